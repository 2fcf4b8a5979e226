// What operators did, and when.

import { button, h, heading } from "/app/dom.js";
import { table, when } from "../parts.js";
import { actionWords } from "../words.js";

const PAGE = 100;

/** @param {any} app */
export function auditView(app) {
  const place = h("div", { class: "sections" }, h("p", { class: "empty" }, "One moment…"));
  let entries = [];

  async function load() {
    const before = entries.length ? `&before=${entries.at(-1).number}` : "";
    const found = await app.call("GET", `/api/admin/audit?limit=${PAGE}${before}`);
    if (!found) return;
    entries = [...entries, ...found.entries];
    place.replaceChildren(
      table("What operators did", ["When", "Who", "What", "Whom or which", "Detail"],
        entries.map((one) => [when(one.at), one.who, actionWords(one.action), one.subject || "–", one.detail || "–"]), "No operator has done anything yet."),
      found.entries.length === PAGE ? button("Show older ones", load) : "");
  }

  load();
  return { title: "Audit", root: h("div", { class: "sections" }, heading("Audit"), h("p", { class: "lead" }, "Everything that operators did, here or with a call of their own. Looking is not recorded."), place) };
}
