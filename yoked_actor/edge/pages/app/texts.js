// The texts of the pages, in the language of the browser or the one that the user chose.

import { preferences } from "./preferences.js";
import de from "./texts/de.js";
import en from "./texts/en.js";

/** @type {Record<string, Record<string, string>>} */
const CATALOGUES = { en, de };

/** The languages to choose from, with their own names. */
export const LANGUAGES = Object.entries(CATALOGUES).map(([code, texts]) => [code, texts["language.name"]]);

/** The language of the pages. */
export function language() {
  const wanted = [preferences().language, ...navigator.languages].map((one) => one?.split("-")[0].toLowerCase());
  return wanted.find((one) => one && one in CATALOGUES) ?? "en";
}

/** The language with the region of the browser, for numbers, dates and times. */
export function locale() {
  return navigator.languages.find((one) => one.split("-")[0].toLowerCase() === language()) ?? language();
}

/**
 * A text. `{name}` is replaced by the value of that name; with `count`, the plural form is chosen.
 * @param {string} key
 * @param {Record<string, string|number>} [values]
 */
export function t(key, values = {}) {
  const texts = CATALOGUES[language()];
  const form = "count" in values ? `${key}.${new Intl.PluralRules(language()).select(Number(values.count))}` : key;
  const text = texts[form] ?? texts[`${key}.other`] ?? texts[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** The text of a key that may not exist, such as one made from a code of a newer server. @param {string} key @param {string} [otherwise] */
export const known = (key, otherwise = "") => (key in CATALOGUES.en ? t(key) : otherwise);

/** Translate the parts of the page that are in its HTML. */
export function translatePage() {
  document.documentElement.lang = language();
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = t(element.getAttribute("data-text") ?? "");
  for (const element of document.querySelectorAll("[data-label]")) element.setAttribute("aria-label", t(element.getAttribute("data-label") ?? ""));
}
