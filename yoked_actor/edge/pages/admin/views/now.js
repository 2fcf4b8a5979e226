// The current state, and the last hour.

import { h, heading } from "/app/dom.js";
import { lastHour, matchesChart, sharesChart, waitingChart } from "../charts.js";
import { fill, label, panel, table } from "../parts.js";
import { OUTCOMES, TIERS, seconds } from "../words.js";

const RECENT_MINUTES = 5;

/** A tile: a name, a value and a note. */
function tile(name, href) {
  const value = h("span", { class: "value" }, "…");
  const note = h("span", { class: "note" });
  const root = h("li", {}, h(href ? "a" : "div", { class: "tile", href }, h("span", { class: "name" }, name), value, note));
  return {
    root,
    show(text, remark = "", bad = false) {
      value.textContent = text;
      note.textContent = remark;
      root.firstChild.classList.toggle("bad", bad);
    },
  };
}

/** @param {any} app */
export function nowView(app) {
  const tiles = {
    waiting: tile("Waiting", "#line"),
    matches: tile("Matches per minute"),
    waits: tile("Wait for a match"),
    sockets: tile("Connections"),
    mailbox: tile("Matchmaker mailbox"),
    commits: tile("Commit time, p99"),
    jobs: tile("Dead letters", "#jobs"),
    alerts: tile("Alerts", "#alerts"),
  };
  const charts = [
    waitingChart(),
    matchesChart(TIERS),
    sharesChart("Matches by tier, last hour", [["1", "Exact"], ["2", "Wider"], ["3", "Widest"], ["99", "Anyone"]], ({ hour }) => hour.tiers, "No matches in the last hour."),
    sharesChart("Outcomes, last hour", Object.entries(OUTCOMES), ({ hour }) => hour.outcomes, "No votes in the last hour."),
  ];
  const stalled = h("p", { class: "notice bad", role: "alert", hidden: true }, "The database cannot be written. No one is matched until it can be written again. Commits are retried, and nothing is lost. Check the disk and the log.");
  const degraded = h("div", { class: "notice bad", role: "alert", hidden: true });
  const nodes = nodesTable();
  let shown = "";
  const root = h("div", { class: "sections" }, heading("Now"), stalled, degraded,
    h("ul", { class: "tiles" }, Object.values(tiles).map((one) => one.root)),
    h("div", { class: "charts" }, charts.map((one) => one.root)),
    nodes.root);
  return {
    title: "Now",
    root,
    update() {
      const { status } = app;
      if (!status) return;
      const recent = lastHour(status).slice(-RECENT_MINUTES - 1, -1);
      const matches = recent.reduce((sum, minute) => sum + minute.matches, 0);
      const waited = recent.reduce((sum, minute) => sum + (minute.wait_s ?? 0) * minute.matches, 0);
      const [first] = status.longest;
      const { pending = 0, failed = 0, in_progress = 0, dead_letter = 0 } = status.jobs;
      stalled.hidden = !status.stalled;
      const troubles = status.degraded ?? [];
      degraded.hidden = troubles.length === 0;
      // A screen reader would start over with every status: replace only what has changed.
      if (JSON.stringify(troubles) !== shown) {
        shown = JSON.stringify(troubles);
        degraded.replaceChildren(
          h("p", {}, "Matching works, but other parts of the server have failed. They are restarted automatically. See actor_failed in the log."),
          h("ul", {}, troubles.map((one) => h("li", {}, `${one.actor}: ${one.error} (${one.failures} ${one.failures === 1 ? "failure" : "failures"}, ${one.restarted_at ? "restarted" : "restart pending"})`))));
      }
      tiles.waiting.show(status.waiting.toLocaleString(), first ? `longest ${seconds(first.waiting_s)}` : "no one in line");
      tiles.matches.show((matches / RECENT_MINUTES).toLocaleString(undefined, { maximumFractionDigits: 1 }), `in the last ${RECENT_MINUTES} minutes`);
      tiles.waits.show(matches ? seconds(waited / matches) : "–", matches ? "on average" : "no recent match");
      tiles.sockets.show(status.connections.toLocaleString(), `${status.sessions.toLocaleString()} sessions`);
      tiles.mailbox.show(status.mailbox.toLocaleString(), `${status.commits.pending.toLocaleString()} writes pending`);
      tiles.commits.show(seconds(status.commits.p99_s), `p50 ${seconds(status.commits.p50_s)}`);
      tiles.jobs.show(dead_letter.toLocaleString(), `${in_progress} running, ${pending + failed} pending`, dead_letter > 0);
      tiles.alerts.show(status.alerts.length.toLocaleString(), status.alerts.length ? "show" : "none active", status.alerts.length > 0);
      for (const chart of charts) chart.update(status);
      nodes.update(status.nodes);
    },
  };
}

/** The nodes of the service and the rooms that each serves; hidden while there is only this server. */
function nodesTable() {
  const place = h("div", {});
  const root = panel("Nodes", place);
  root.hidden = true;
  return {
    root,
    /** @param {any} found */
    update(found) {
      root.hidden = !found;
      if (!found) return;
      const rooms = (/** @type {string} */ node) => found.leases.filter((one) => one.node === node && one.left_s > 0).map((one) => `${one.room} (${one.epoch})`);
      fill(place, table("Nodes", ["Node", "URL", "Last heard", "Rooms (epoch)"], found.nodes.map((one) => [
        one.node === found.node ? `${one.node} (this one)` : one.node,
        one.url,
        one.is_live ? `${seconds(one.silent_s)} ago` : label(`silent for ${seconds(one.silent_s)}`, "bad"),
        rooms(one.node).join(", ") || "none",
      ]), "No node is registered."));
    },
  };
}
