// Parts of the sections: tables, times, labels, panels, confirmation dialogs.

import { open } from "/app/dialogs.js";
import { button, h } from "/app/dom.js";

const TIME = { hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" };
const DAY = { day: "numeric", month: "short" };
const OLD_DAY = { ...DAY, year: "numeric" };

/** A time with its zone, the operator's own; without the date if it is today. @param {string|null} iso */
export function when(iso) {
  if (!iso) return "–";
  const time = new Date(iso);
  const clock = time.toLocaleTimeString(undefined, TIME);
  const today = time.toDateString() === new Date().toDateString();
  const day = time.getFullYear() === new Date().getFullYear() ? DAY : OLD_DAY;
  return h("time", { datetime: iso, title: iso }, today ? clock : `${time.toLocaleDateString(undefined, day)}, ${clock}`);
}

/**
 * A table that scrolls horizontally if it is too wide.
 * @param {string} caption
 * @param {string[]} columns
 * @param {any[][]} rows cells; the first of each row is its header
 * @param {string} empty text if there are no rows
 */
export function table(caption, columns, rows, empty) {
  if (rows.length === 0) return h("p", { class: "empty" }, empty);
  return h("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" },
    h("table", {},
      h("caption", { class: "sr-only" }, caption),
      h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name || h("span", { class: "sr-only" }, "Actions"))))),
      h("tbody", {}, rows.map(([first, ...cells]) => h("tr", {}, h("th", { scope: "row" }, first), cells.map((cell) => h("td", {}, cell ?? "–")))))));
}

/** A list of terms and values. @param {[string, any][]} rows */
export const facts = (rows) => h("dl", { class: "facts" }, rows.map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value ?? "–"))));

/** A small label for a state. @param {string} text @param {string} kind */
export const label = (text, kind = "") => h("span", { class: `label ${kind}` }, text);

/** Replace the content of an element; null, undefined and false are skipped. @param {Element} place @param {...any} children */
export const fill = (place, ...children) => place.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));

/** A link to the page of a user; plain text for an erased one. @param {string} user_id @param {any} [text] */
export const userLink = (user_id, text = user_id) => (user_id.startsWith("~") ? h("span", { class: "soft" }, "(erased)") : h("a", { href: `#users/${encodeURIComponent(user_id)}` }, text));

/** A panel with a heading. @param {string} title @param {...any} children */
export const panel = (title, ...children) => h("section", { class: "panel" }, h("h2", {}, title), ...children);

/**
 * Ask for confirmation, and optionally for a text. Resolves with the text (or true), or with null if
 * the operator cancels.
 * @param {{title: string, text: string, act: string, ask?: string, placeholder?: string, more?: any}} question
 * @returns {Promise<string|true|null>}
 */
export function confirm({ title, text, act, ask, placeholder, more = [] }) {
  return new Promise((resolve) => {
    const field = ask ? h("textarea", { id: "confirm-text", rows: 3, maxlength: 500, placeholder, "aria-describedby": "confirm-problem" }) : null;
    const problem = h("p", { id: "confirm-problem", class: "problem", role: "alert" });
    const finish = (answer) => {
      resolve(answer);
      dialog.close();
    };
    const agree = () => {
      if (!field) return finish(true);
      // The server takes no line breaks.
      const entered = field.value.replace(/\s+/g, " ").trim();
      if (entered) return finish(entered);
      problem.textContent = "Enter a text. It is recorded in the audit log.";
      field.setAttribute("aria-invalid", "true");
      field.focus();
    };
    const body = [h("p", {}, text), field && [h("label", { for: "confirm-text" }, ask), field, problem], more];
    const dialog = open(title, body, [button("Go back", () => finish(null)), button(act, agree, "danger", { name: "confirm" })]);
    dialog.addEventListener("close", () => resolve(null));
  });
}
