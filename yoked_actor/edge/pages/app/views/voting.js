// A match: the card of the partner, the time left, and yes or pass.

import { personCard } from "../card.js";
import { Countdown } from "../countdown.js";
import { askToBlock, askToReport } from "../dialogs.js";
import { button, h, heading } from "../dom.js";

const KEYS = { y: "yes", Y: "yes", ArrowRight: "yes", p: "pass", P: "pass", ArrowLeft: "pass" };

/** @param {any} app */
export function voting(app) {
  const { match_id, partner } = app.snapshot.match;
  const ring = new Countdown(app.now, "Seconds left to vote");
  const title = heading("Someone for you");
  const status = h("p", { class: "lead", id: "vote-status" });
  const cast = async (vote) => {
    if (app.snapshot?.state !== "voting" || app.snapshot.match.voted || sending) return;
    sending = true;
    show();
    await app.vote(match_id, vote);
    sending = false;
    show();
  };
  const key = (label) => h("kbd", { "aria-hidden": "true" }, label);
  const pass = h("button", { type: "button", class: "pass big", onclick: () => cast("pass"), "aria-keyshortcuts": "P ArrowLeft" }, "Pass ", key("P"));
  const yes = h("button", { type: "button", class: "main big", onclick: () => cast("yes"), "aria-keyshortcuts": "Y ArrowRight" }, "Yes ", key("Y"));
  const choice = h("div", { class: "choice" }, pass, yes);
  let sending = false;
  let running = "";

  const press = (event) => {
    const vote = KEYS[event.key];
    if (!vote || event.repeat || event.metaKey || event.ctrlKey || event.altKey || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    cast(vote);
  };
  const acknowledge = () => {
    const match = app.snapshot?.match;
    // A hidden tab does not count as seen.
    if (document.visibilityState === "hidden" || match?.match_id !== match_id || match.acknowledged) return;
    requestAnimationFrame(() => requestAnimationFrame(() => app.client?.acknowledge(match_id).catch(() => {})));
  };
  const show = () => {
    const { state, match } = app.snapshot ?? {};
    if (match?.match_id !== match_id) return;
    const open = state === "voting";
    const voted = match.voted || sending;
    if (open && running !== match.vote_by) {
      running = match.vote_by;
      ring.run(match.vote_by, app.vote_window_s * 1000, true);
    }
    ring.element.classList.toggle("still", !open);
    pass.disabled = yes.disabled = !open || voted;
    choice.hidden = voted;
    status.textContent = voted ? `Your vote is in. Waiting for ${partner.display_name}…`
      : open ? "Do you want to meet on video?" : `Waiting for ${partner.display_name} to arrive…`;
    if (voted && choice.contains(document.activeElement)) title.focus();
  };
  addEventListener("keydown", press);
  document.addEventListener("visibilitychange", acknowledge);
  return {
    title: `Meet ${partner.display_name}`,
    root: h("section", { class: "meeting" }, h("div", { class: "meeting-head" }, title, ring.element), personCard(partner, app.profile?.interests ?? []),
      status, choice,
      h("div", { class: "quiet" }, button("Block", () => askToBlock(app, partner), "link"), button("Report", () => askToReport(app, partner, match_id), "link"))),
    update: show,
    opened: acknowledge,
    close() {
      ring.stop();
      removeEventListener("keydown", press);
      document.removeEventListener("visibilitychange", acknowledge);
      document.querySelector("dialog[open]")?.close();
    },
  };
}
