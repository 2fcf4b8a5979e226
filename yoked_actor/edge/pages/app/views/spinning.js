// Waiting in line: for how long, how wide the search is, and why there is no match yet.

import { announce, button, clock, h, heading } from "../dom.js";
import { explanation, TIERS } from "../words.js";
import { circlingOrbs } from "./orbs.js";

const ASK_EVERY_MS = 2000;

/** @param {any} app */
export function spinning(app) {
  const waited = h("span", { class: "waited" }, "0:00");
  const tier = h("p", { class: "lead" });
  const why = h("ul", { class: "why" });
  const next = h("p", { class: "hint" });
  const leave = button("Leave the line", () => app.attempt(() => app.client.leave()));
  let shown = "";
  let announced_ms = 0;

  const tick = () => {
    const since = app.snapshot?.waiting_since;
    if (since) waited.textContent = clock(Math.max(0, Math.floor((app.now() - Date.parse(since)) / 1000)));
  };
  const ask = async () => {
    if (app.snapshot?.state !== "waiting" || app.client?.status !== "online") return;
    const reply = await app.client.explain().catch(() => null);
    if (!reply || app.snapshot?.state !== "waiting") return;
    tier.textContent = TIERS[reply.tier] ?? "";
    const lines = explanation(reply);
    next.textContent = reply.next_tier_in_s === null || reply.next_tier_in_s === undefined ? "" : `The search widens in ${Math.max(1, Math.ceil(reply.next_tier_in_s))} s.`;
    if (lines.join() === shown) return;
    shown = lines.join();
    why.replaceChildren(...lines.map((line) => h("li", {}, line)));
    // Announcing every change would drown out everything else.
    if (Date.now() - announced_ms > 10_000) announce(lines.join(" "));
    announced_ms = Date.now();
  };
  const timers = [setInterval(tick, 250), setInterval(ask, ASK_EVERY_MS)];
  return {
    title: "Looking for someone",
    root: h("section", { class: "center" }, circlingOrbs(), heading("Looking for someone…"),
      h("p", { class: "clock-line" }, h("span", { class: "sr-only" }, "You have waited "), waited), tier,
      h("div", { class: "panel why-panel" }, h("h2", {}, "Why you're waiting"), why, next),
      h("div", { class: "actions" }, leave)),
    update() {
      if (app.snapshot?.tier) tier.textContent = TIERS[app.snapshot.tier] ?? "";
      tick();
    },
    opened: ask,
    close: () => timers.forEach(clearInterval),
  };
}
