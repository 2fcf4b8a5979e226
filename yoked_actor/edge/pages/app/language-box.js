// The choice of the language at the foot of every page.

import { language, LANGUAGES, translatePage } from "./texts.js";

/** Translate the page, and offer its languages. @param {(code: string) => void} choose */
export function offerLanguages(choose) {
  translatePage();
  const box = /** @type {any} */ (document.getElementById("language"));
  box.replaceChildren(...LANGUAGES.map(([code, name]) => Object.assign(document.createElement("option"), { value: code, textContent: name, lang: code })));
  box.value = language();
  box.addEventListener("change", () => choose(box.value));
}

/** Show the chosen language. */
export function showLanguage() {
  translatePage();
  /** @type {any} */ (document.getElementById("language")).value = language();
}
