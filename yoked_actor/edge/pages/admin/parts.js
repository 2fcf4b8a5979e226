// What the sections are made of: tables, tiles, moments, questions.

import { open } from "/app/dialogs.js";
import { button, h } from "/app/dom.js";

const TIME = { hour: "2-digit", minute: "2-digit", second: "2-digit" };
const DAY = { day: "numeric", month: "short" };

/** A moment, on this machine's clock; the date is left out when it is today's. @param {string|null} iso */
export function when(iso) {
  if (!iso) return "–";
  const moment = new Date(iso);
  const time = moment.toLocaleTimeString(undefined, TIME);
  const today = moment.toDateString() === new Date().toDateString();
  return h("time", { datetime: iso, title: iso }, today ? time : `${moment.toLocaleDateString(undefined, DAY)}, ${time}`);
}

/**
 * A table that scrolls inside itself where it is too wide.
 * @param {string} caption
 * @param {string[]} columns
 * @param {any[][]} rows cells; the first of each row is its header
 * @param {string} empty what to say when there are no rows
 */
export function table(caption, columns, rows, empty) {
  if (rows.length === 0) return h("p", { class: "empty" }, empty);
  return h("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" },
    h("table", {},
      h("caption", { class: "sr-only" }, caption),
      h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name || h("span", { class: "sr-only" }, "Actions"))))),
      h("tbody", {}, rows.map(([first, ...cells]) => h("tr", {}, h("th", { scope: "row" }, first), cells.map((cell) => h("td", {}, cell ?? "–")))))));
}

/** Facts, as terms and what they are. @param {[string, any][]} rows */
export const facts = (rows) => h("dl", { class: "facts" }, rows.map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value ?? "–"))));

/** A state, as a small label. @param {string} text @param {string} kind */
export const label = (text, kind = "") => h("span", { class: `label ${kind}` }, text);

/** A panel with a heading. @param {string} title @param {...any} children */
export const panel = (title, ...children) => h("section", { class: "panel" }, h("h2", {}, title), ...children);

/**
 * Ask before something that cannot be taken back, or that others feel. Resolves with the words that
 * were asked for (or true), or with null when the operator thinks better of it.
 * @param {{title: string, text: string, act: string, ask?: string, placeholder?: string}} question
 * @returns {Promise<string|true|null>}
 */
export function confirm({ title, text, act, ask, placeholder }) {
  return new Promise((resolve) => {
    const field = ask ? h("textarea", { id: "confirm-words", rows: 3, maxlength: 500, placeholder, "aria-describedby": "confirm-problem" }) : null;
    const problem = h("p", { id: "confirm-problem", class: "problem", role: "alert" });
    const finish = (answer) => {
      resolve(answer);
      dialog.close();
    };
    const agree = () => {
      if (!field) return finish(true);
      const words = field.value.trim();
      if (words) return finish(words);
      problem.textContent = "Say it in a few words; it is kept in the audit.";
      field.setAttribute("aria-invalid", "true");
      field.focus();
    };
    const body = [h("p", {}, text), field && [h("label", { for: "confirm-words" }, ask), field, problem]];
    const dialog = open(title, body, [button("Keep as it is", () => finish(null)), button(act, agree, "danger", { name: "confirm" })]);
    dialog.addEventListener("close", () => resolve(null));
  });
}
