// The token of the signed-in user, kept for this tab.

const KEY = "yoked.token";

/** The stored token; null when nobody is signed in. */
export const storedToken = () => sessionStorage.getItem(KEY);

/** @param {string} token */
export const storeToken = (token) => sessionStorage.setItem(KEY, token);

export const forgetToken = () => sessionStorage.removeItem(KEY);

/** The user ID in a token, for display only: the token is not verified here. @param {string} token */
export function userOf(token) {
  try {
    return JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"))).sub ?? "";
  } catch {
    return "";
  }
}
