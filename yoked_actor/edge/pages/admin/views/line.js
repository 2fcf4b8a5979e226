// Who has waited longest, and why: the numbers that `explain` would tell each of them.

import { h, heading } from "/app/dom.js";
import { label, table } from "../parts.js";
import { TIERS, relief, seconds } from "../words.js";

const COLUMNS = ["User", "Waits", "Limits", "Others in line", "Not looking for each other", "Have met, or are kept apart", "Age", "Distance", "What would help"];

/** @param {any} app */
export function lineView(app) {
  const place = h("div", {}, h("p", { class: "empty" }, "One moment…"));
  const lead = h("p", { class: "lead" });
  const limits = ({ tier, next_tier_in_s }) => [label(TIERS[tier]), next_tier_in_s === null ? "" : h("span", { class: "note" }, `next in ${seconds(next_tier_in_s)}`)];
  return {
    title: "Line",
    root: h("div", { class: "sections" }, heading("Line"), lead, place,
      h("p", { class: "hint" }, "Of the others in line, each is counted once, by the first thing that keeps the two apart. Limits open with the wait: as wished, wider, widest, anybody.")),
    update() {
      const { status } = app;
      // Whoever reads or scrolls in the table is not to lose their place.
      if (!status || place.contains(document.activeElement)) return;
      const count = status.waiting;
      lead.textContent = count === 0 ? "Nobody waits." : `${count.toLocaleString()} ${count === 1 ? "person waits" : "people wait"}. These have waited longest.`;
      place.replaceChildren(table("Who has waited longest, and why", COLUMNS,
        status.longest.map((one) => [
          one.user_id, seconds(one.waiting_s), limits(one), one.pool.toLocaleString(),
          ...["seeking", "history", "age", "distance"].map((name) => one.rejected_by[name].toLocaleString()),
          one.pool === 0 ? "Nobody else is in line" : relief(one.nearest),
        ]), "The line is empty."));
    },
  };
}
