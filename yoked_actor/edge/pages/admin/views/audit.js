// The audit log: actions of operators.

import { button, h, heading } from "/app/dom.js";
import { table, when } from "../parts.js";
import { actionWords } from "../words.js";

const PAGE = 100;

/** @param {any} app */
export function auditView(app) {
  const place = h("div", { class: "sections" }, h("p", { class: "empty" }, "Loading…"));
  let entries = [];

  async function load() {
    const before = entries.length ? `&before=${entries.at(-1).number}` : "";
    const found = await app.call("GET", `/api/admin/audit?limit=${PAGE}${before}`);
    if (!found) return;
    entries = [...entries, ...found.entries];
    place.replaceChildren(
      table("Operator actions", ["Time", "Operator", "Action", "Subject", "Detail"],
        entries.map((one) => [when(one.at), one.who, actionWords(one.action), one.subject || "–", one.detail || "–"]), "No actions yet."),
      found.entries.length === PAGE ? button("Show older", load) : "");
  }

  load();
  return { title: "Audit", root: h("div", { class: "sections" }, heading("Audit"), h("p", { class: "lead" }, "All operator actions, in this console, through the API and on the command line. Reading is not recorded."), place) };
}
