// The quality of matches by group: waits, tiers and how often a match led to two yeses.

import { h, heading } from "/app/dom.js";
import { barsChart, tiersChart } from "../charts.js";
import { fill, table, when } from "../parts.js";
import { TIERS, seconds } from "../words.js";

const SPANS = [[1, "Last hour"], [24, "Last day"], [168, "Last week"], [744, "Last 31 days"]];
const percent = (value) => (value === null ? "–" : `${Math.round(100 * value)} %`);

/** @param {any} app */
export function qualityView(app) {
  const place = h("div", { class: "sections" }, h("p", { class: "empty" }, "Loading…"));
  const span = h("select", { id: "quality-span", onchange: () => load() }, SPANS.map(([hours, name]) => h("option", { value: hours }, name)));
  span.value = "24";
  let asked = 0;

  async function load() {
    const mine = ++asked;
    const found = await app.call("GET", `/api/admin/quality?hours=${span.value}`);
    if (!found || mine !== asked) return;
    if (found.groups.length === 0) return fill(place, h("p", { class: "empty" }, "No matches in this time."));
    const waits = barsChart("Waits by group: median and 90 %", found.groups.map((one) => ({ name: one.group, bars: [["median", one.wait_s.p50], ["90 %", one.wait_s.p90]] })), seconds);
    const tiers = tiersChart("Limits at the match, by group", found.groups.map((one) => ({ name: one.group, tiers: one.tiers })), TIERS);
    const yes = barsChart("Matches with two yeses, by group", found.groups.map((one) => ({ name: one.group, bars: [["both yes", one.match_rate]] })), percent, 1);
    fill(place,
      h("p", { class: "lead" }, `${found.matches.toLocaleString()} ${found.matches === 1 ? "match" : "matches"}${found.complete ? "" : ", the newest"}, since `, when(found.since), "."),
      h("div", { class: "charts" }, waits, tiers, yes),
      table("Quality by group", ["Group", "Sides of matches", "Wait, median", "90 %", "99 %", ...Object.values(TIERS), "Both yes"],
        found.groups.map((one) => [one.group, one.count.toLocaleString(), seconds(one.wait_s.p50), seconds(one.wait_s.p90), seconds(one.wait_s.p99), ...Object.keys(TIERS).map((tier) => (one.tiers[tier] ?? 0).toLocaleString()), percent(one.match_rate)]), ""));
  }

  load();
  return {
    title: "Quality",
    root: h("div", { class: "sections" }, heading("Quality"),
      h("form", { class: "filters", onsubmit: (event) => event.preventDefault() }, h("div", {}, h("label", { for: "quality-span" }, "Time"), span)),
      place),
    leave() { asked++; },
  };
}
