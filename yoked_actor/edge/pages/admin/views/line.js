// The users who have waited longest, and why: the numbers that `explain` returns to each of them.

import { h, heading } from "/app/dom.js";
import { label, table, userLink } from "../parts.js";
import { TIERS, relief, seconds } from "../words.js";

const COLUMNS = ["User", "Waiting for", "Limits", "Others in line", "Not looking for each other", "Already met or blocked", "Age", "Distance", "What would help"];

/** @param {any} app */
export function lineView(app) {
  const place = h("div", {}, h("p", { class: "empty" }, "Loading…"));
  const lead = h("p", { class: "lead" });
  const limits = ({ tier, next_tier_in_s }) => [label(TIERS[tier]), next_tier_in_s === null ? "" : h("span", { class: "note" }, `next in ${seconds(next_tier_in_s)}`)];
  return {
    title: "Line",
    root: h("div", { class: "sections" }, heading("Line"), lead, place,
      h("p", { class: "hint" }, "Each of the others in line is counted once, under the first reason that rules out a match. The limits widen while a user waits: exact, wider, widest, anyone.")),
    update() {
      const { status } = app;
      // Do not replace the table while the operator uses it: the scroll position would be lost.
      if (!status || place.contains(document.activeElement)) return;
      const count = status.waiting;
      lead.textContent = count === 0 ? "No one is waiting." : `${count.toLocaleString()} ${count === 1 ? "user is" : "users are"} waiting. The longest waits:`;
      place.replaceChildren(table("Longest waits", COLUMNS,
        status.longest.map((one) => [
          userLink(one.user_id), seconds(one.waiting_s), limits(one), one.pool.toLocaleString(),
          ...["seeking", "history", "age", "distance"].map((name) => one.rejected_by[name].toLocaleString()),
          one.pool === 0 ? "No one else in line" : relief(one.nearest),
        ]), "The line is empty."));
    },
  };
}
