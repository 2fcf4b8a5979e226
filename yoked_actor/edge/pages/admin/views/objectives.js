// What the service promises, and how it keeps that.

import { h, heading } from "/app/dom.js";
import { label, table } from "../parts.js";
import { seconds } from "../words.js";

const NAMES = {
  morning_sets: "A morning's offers are stored on time",
  offers_duration: "One user's offers are made quickly",
  match_wait: "Who can meet somebody does so soon",
  vote_latency: "Votes are answered quickly",
  spin_availability: "Spins are answered",
};
const percent = (value) => `${(100 * value).toLocaleString(undefined, { maximumFractionDigits: 3 })} %`;
const REFRESH_MS = 10_000;

/** @param {any} one @param {any} window */
const kept = (one, window) => window.ratio === null ? "–" : [
  percent(window.ratio), " ",
  window.burn > 1 ? label(`burns ${window.burn.toLocaleString(undefined, { maximumFractionDigits: 1 })} times`, window.burn > 6 ? "bad" : "warn") : label("kept", "good")];

/** @param {any} app */
export function objectivesView(app) {
  const place = h("div", {}, h("p", { class: "empty" }, "One moment…"));
  let gone = false;
  let last = 0;

  async function load() {
    last = Date.now();
    const found = await app.call("GET", "/api/admin/objectives");
    if (!found || gone || place.contains(document.activeElement)) return;
    place.replaceChildren(table("Objectives", ["Objective", "Target", "Within", "5 minutes", "1 hour", "6 hours", "Good and bad in 6 hours"],
      found.objectives.map((one) => [NAMES[one.objective] ?? one.objective, percent(one.target), seconds(one.limit_s),
        ...one.windows.map((window) => kept(one, window)), `${one.windows.at(-1).good.toLocaleString()} and ${one.windows.at(-1).bad.toLocaleString()}`]), "There are no objectives."));
  }

  load();
  return {
    title: "Objectives",
    root: h("div", { class: "sections" }, heading("Objectives"), place,
      h("p", { class: "hint" }, "The share of events that were good, since this process was started at most. What burns uses up its budget of bad events faster than its target allows.")),
    update() { if (Date.now() - last >= REFRESH_MS) load(); },
    leave() { gone = true; },
  };
}
