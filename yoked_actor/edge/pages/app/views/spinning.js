// Waiting in line: for how long, how wide the search is, and why there is no match yet.

import { askPermission, permission } from "../attention.js";
import { announce, button, clock, h, heading } from "../dom.js";
import { prefer, preferences } from "../preferences.js";
import { roomLine } from "../room-line.js";
import { t } from "../texts.js";
import { explanation, tierText } from "../words.js";
import { checkDevices } from "./check.js";
import { circlingOrbs } from "./orbs.js";

const ASK_EVERY_MS = 2000;

/** Waiting is the good moment to ask: the user has just seen why a message would help. */
function notifyOffer() {
  const text = h("p", { class: "hint" });
  const ask = button(t("spinning.notify"), async () => {
    const answer = await askPermission();
    prefer({ notifications: answer === "granted" });
    show();
    announce(text.textContent);
  });
  const show = () => {
    const state = permission();
    const on = state === "granted" && preferences().notifications;
    ask.hidden = on || state === "denied" || state === "impossible";
    text.textContent = on ? t("spinning.notifyOn") : state === "denied" || state === "impossible" ? t("spinning.notifyBlocked") : t("spinning.notifyHint");
  };
  show();
  return [ask, text];
}

/** @param {any} app */
export function spinning(app) {
  const room = roomLine(app);
  const waited = h("span", { class: "waited" }, "0:00");
  const tier = h("p", { class: "lead" });
  const why = h("ul", { class: "why" });
  const next = h("p", { class: "hint" });
  const leave = button(t("spinning.leave"), () => app.attempt(() => app.client.leave()));
  const check = button(t("check.settings"), () => checkDevices(() => { check.hidden = true; }), "link", { hidden: preferences().checked });
  let shown = "";
  let announced_ms = 0;

  const tick = () => {
    const since = app.snapshot?.waiting_since;
    if (since) waited.textContent = clock(Math.max(0, Math.floor((app.now() - Date.parse(since)) / 1000)));
  };
  const ask = async () => {
    if (app.snapshot?.state !== "waiting" || !app.client?.isLive) return;
    const reply = await app.client.explain().catch(() => null);
    if (!reply || app.snapshot?.state !== "waiting") return;
    tier.textContent = tierText(reply.tier, app.strict);
    const lines = explanation(reply);
    const widens = typeof reply.next_tier_in_s === "number" && app.strict.length < 2;
    next.textContent = !widens ? "" : t("spinning.widens", { seconds: Math.max(1, Math.ceil(reply.next_tier_in_s)) });
    if (lines.join() === shown) return;
    shown = lines.join();
    why.replaceChildren(...lines.map((line) => h("li", {}, line)));
    // Announcing every change would drown out everything else.
    if (Date.now() - announced_ms > 10_000) announce(lines.join(" "));
    announced_ms = Date.now();
  };
  const timers = [setInterval(tick, 250), setInterval(ask, ASK_EVERY_MS)];
  return {
    title: t("spinning.title"),
    count: () => waited.textContent,
    root: h("section", { class: "center" }, circlingOrbs(), heading(t("spinning.heading")), room.element,
      h("p", { class: "clock-line" }, h("span", { class: "sr-only" }, t("spinning.waited")), waited), tier,
      h("div", { class: "actions" }, leave),
      h("p", { class: "stay" }, t("spinning.stay"), " ", "wakeLock" in navigator && t("spinning.awake")),
      h("div", { class: "panel why-panel" }, h("h2", {}, t("spinning.why")), why, next),
      h("div", { class: "actions reach" }, notifyOffer(), check)),
    update() {
      room.show();
      if (app.snapshot?.tier) tier.textContent = tierText(app.snapshot.tier, app.strict);
      tick();
    },
    opened: ask,
    close: () => timers.forEach(clearInterval),
  };
}
