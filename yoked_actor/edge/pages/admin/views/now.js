// How things stand at this moment, and in the last hour.

import { h, heading } from "/app/dom.js";
import { lastHour, matchesChart, sharesChart, waitingChart } from "../charts.js";
import { OUTCOMES, TIERS, seconds } from "../words.js";

const LATELY = 5;

/** What a tile shows: a number, what it is, and a word on it. */
function tile(name, href) {
  const value = h("span", { class: "value" }, "…");
  const note = h("span", { class: "note" });
  const root = h("li", {}, h(href ? "a" : "div", { class: "tile", href }, h("span", { class: "name" }, name), value, note));
  return {
    root,
    show(text, words = "", bad = false) {
      value.textContent = text;
      note.textContent = words;
      root.firstChild.classList.toggle("bad", bad);
    },
  };
}

/** @param {any} app */
export function nowView(app) {
  const tiles = {
    waiting: tile("Waiting", "#line"),
    matches: tile("Matches a minute"),
    waits: tile("Wait before a match"),
    sockets: tile("Connected"),
    mailbox: tile("Undecided messages"),
    commits: tile("Commits, 99 %"),
    jobs: tile("Dead letters", "#jobs"),
    alerts: tile("Alerts", "#alerts"),
  };
  const charts = [
    waitingChart(),
    matchesChart(TIERS),
    sharesChart("Tiers of the last hour’s matches", [["1", "As wished"], ["2", "Wider"], ["3", "Widest"], ["99", "Anybody"]], ({ hour }) => hour.tiers, "No match in the last hour."),
    sharesChart("Outcomes of the last hour", Object.entries(OUTCOMES), ({ hour }) => hour.outcomes, "No vote in the last hour."),
  ];
  const stalled = h("p", { class: "story bad", role: "alert", hidden: true }, "The database cannot be written. Nobody is matched until it can; decisions are tried again and again, and nothing is lost. Look at the disk and at the log.");
  const degraded = h("div", { class: "story bad", role: "alert", hidden: true });
  let shown = "";
  const root = h("div", { class: "sections" }, heading("Now"), stalled, degraded,
    h("ul", { class: "tiles" }, Object.values(tiles).map((one) => one.root)),
    h("div", { class: "charts" }, charts.map((one) => one.root)));
  return {
    title: "Now",
    root,
    update() {
      const { status } = app;
      if (!status) return;
      const lately = lastHour(status).slice(-LATELY - 1, -1);
      const matches = lately.reduce((sum, minute) => sum + minute.matches, 0);
      const waited = lately.reduce((sum, minute) => sum + (minute.wait_s ?? 0) * minute.matches, 0);
      const [first] = status.longest;
      const { pending = 0, failed = 0, in_progress = 0, dead_letter = 0 } = status.jobs;
      stalled.hidden = !status.stalled;
      const troubles = status.degraded ?? [];
      degraded.hidden = troubles.length === 0;
      // An alert that is written anew every two seconds would never be read out to its end.
      if (JSON.stringify(troubles) !== shown) {
        shown = JSON.stringify(troubles);
        degraded.replaceChildren(
          h("p", {}, "People meet as usual, but parts beside the live loop have failed. They are started again by themselves; look at the log for actor_failed."),
          h("ul", {}, troubles.map((one) => h("li", {}, `${one.actor}: ${one.error} (${one.failures} ${one.failures === 1 ? "failure" : "failures"}, ${one.restarted_at ? "started again" : "waits for its next start"})`))));
      }
      tiles.waiting.show(status.waiting.toLocaleString(), first ? `longest ${seconds(first.waiting_s)}` : "nobody in line");
      tiles.matches.show((matches / LATELY).toLocaleString(undefined, { maximumFractionDigits: 1 }), `in the last ${LATELY} minutes`);
      tiles.waits.show(matches ? seconds(waited / matches) : "–", matches ? "on average" : "no match lately");
      tiles.sockets.show(status.connections.toLocaleString(), `${status.sessions.toLocaleString()} in memory`);
      tiles.mailbox.show(status.mailbox.toLocaleString(), `${status.commits.pending.toLocaleString()} writes wait`);
      tiles.commits.show(seconds(status.commits.p99_s), `50 % within ${seconds(status.commits.p50_s)}`);
      tiles.jobs.show(dead_letter.toLocaleString(), `${in_progress} run, ${pending + failed} wait`, dead_letter > 0);
      tiles.alerts.show(status.alerts.length.toLocaleString(), status.alerts.length ? "see which" : "all is well", status.alerts.length > 0);
      for (const chart of charts) chart.update(status);
    },
  };
}
