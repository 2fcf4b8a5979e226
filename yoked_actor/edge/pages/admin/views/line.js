// Who has waited longest, and why.

import { h, heading } from "/app/dom.js";
import { label, table } from "../parts.js";
import { TIERS, seconds, why } from "../words.js";

/** @param {any} app */
export function lineView(app) {
  const place = h("div", {}, h("p", { class: "empty" }, "One moment…"));
  const lead = h("p", { class: "lead" });
  return {
    title: "Line",
    root: h("div", { class: "sections" }, heading("Line"), lead, place),
    update() {
      const { status } = app;
      // Whoever reads or scrolls in the table is not to lose their place.
      if (!status || place.contains(document.activeElement)) return;
      const count = status.waiting;
      lead.textContent = count === 0 ? "Nobody waits." : `${count.toLocaleString()} ${count === 1 ? "person waits" : "people wait"}. These have waited longest.`;
      place.replaceChildren(table("Who has waited longest", ["User", "Waits", "Limits", "Why"],
        status.longest.map((one) => [
          one.user_id,
          seconds(one.waiting_s),
          [label(TIERS[one.tier], `tier-label-${one.tier}`), one.next_tier_in_s === null ? "" : h("span", { class: "note" }, `wider in ${seconds(one.next_tier_in_s)}`)],
          why(one).map((text) => h("p", {}, text)),
        ]), "The line is empty."));
    },
  };
}
