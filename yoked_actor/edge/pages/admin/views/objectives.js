// Service level objectives, and how far they are met.

import { h, heading } from "/app/dom.js";
import { label, table } from "../parts.js";
import { seconds } from "../words.js";

const NAMES = {
  morning_sets: "Daily offers are stored on time",
  offers_duration: "A user's offers are computed in time",
  match_wait: "Possible matches are made in time",
  vote_latency: "Votes are answered in time",
  spin_availability: "Spins are answered",
};
const percent = (value) => `${(100 * value).toLocaleString(undefined, { maximumFractionDigits: 3 })}\u00a0%`;
const REFRESH_MS = 10_000;

/** @param {any} one @param {any} window */
const share = (one, window) => window.ratio === null ? "–" : [
  percent(window.ratio), " ",
  window.burn > 1 ? label(`burn rate ${window.burn.toLocaleString(undefined, { maximumFractionDigits: 1 })}`, window.burn > 6 ? "bad" : "warn") : label("met", "good")];

/** @param {any} app */
export function objectivesView(app) {
  const place = h("div", {}, h("p", { class: "empty" }, "Loading…"));
  let gone = false;
  let last = 0;

  async function load() {
    last = Date.now();
    const found = await app.call("GET", "/api/admin/objectives");
    if (!found || gone || place.contains(document.activeElement)) return;
    place.replaceChildren(table("Objectives", ["Objective", "Target", "Limit", "5 minutes", "1 hour", "6 hours", "Good / bad, 6 hours"],
      found.objectives.map((one) => [NAMES[one.objective] ?? one.objective, percent(one.target), seconds(one.limit_s),
        ...one.windows.map((window) => share(one, window)), `${one.windows.at(-1).good.toLocaleString()} / ${one.windows.at(-1).bad.toLocaleString()}`]), "No objectives."));
  }

  load();
  return {
    title: "Objectives",
    root: h("div", { class: "sections" }, heading("Objectives"), place,
      h("p", { class: "hint" }, "Share of good events, since the start of this process at most. A burn rate over 1 uses up the error budget faster than the target allows.")),
    update() { if (Date.now() - last >= REFRESH_MS) load(); },
    leave() { gone = true; },
  };
}
