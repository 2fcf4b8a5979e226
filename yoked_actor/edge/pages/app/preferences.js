// Settings of this browser: language, units, keyboard, sound, messages. They are kept in `localStorage`.

const KEY = "yoked.preferences";
/** Null: follow the browser. `checked` is true once the camera and microphone were looked at. */
const DEFAULTS = { language: null, units: null, keyboard: true, sound: true, notifications: false, checked: false };

let current = { ...DEFAULTS, ...read() };

function read() {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return stored !== null && typeof stored === "object" ? stored : {};
  } catch {
    return {};
  }
}

/** The settings. @returns {typeof DEFAULTS} */
export const preferences = () => current;

/** Change some of the settings. @param {Partial<typeof DEFAULTS>} changes */
export function prefer(changes) {
  current = { ...current, ...changes };
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // Without storage, the settings last as long as the page.
  }
}
