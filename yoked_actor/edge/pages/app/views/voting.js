// A match: the card of the partner, the time left, and yes or pass.

import { personCard } from "../card.js";
import { Countdown } from "../countdown.js";
import { askToBlock, askToReport } from "../dialogs.js";
import { button, h, heading } from "../dom.js";
import { preferences } from "../preferences.js";
import { t } from "../texts.js";

const KEYS = { y: "yes", Y: "yes", ArrowRight: "yes", p: "pass", P: "pass", ArrowLeft: "pass" };
const FIELDS = "input, textarea, select, [contenteditable]";

/** Whether a key was meant for a field or a dialog, and not for the page. */
const isTaken = (event) => event.repeat || event.isComposing || event.metaKey || event.ctrlKey || event.altKey || document.querySelector("dialog[open]") !== null || (event.target instanceof Element && event.target.closest(FIELDS) !== null);

/** @param {any} app */
export function voting(app) {
  const { match_id, partner } = app.snapshot.match;
  const name = partner.display_name;
  const ring = new Countdown(app.now, t("voting.ring"));
  const title = heading(t("voting.heading"));
  const status = h("p", { class: "lead", id: "vote-status" });
  const cast = async (vote) => {
    if (app.snapshot?.state !== "voting" || app.snapshot.match.voted || sending) return;
    sending = true;
    show();
    await app.vote(match_id, vote);
    sending = false;
    show();
  };
  const { keyboard } = preferences();
  const key = (label) => keyboard && h("kbd", { "aria-hidden": "true" }, label);
  const pass = h("button", { type: "button", class: "pass big", onclick: () => cast("pass"), "aria-keyshortcuts": keyboard && "P ArrowLeft" }, `${t("voting.pass")} `, key("P"));
  const yes = h("button", { type: "button", class: "main big", onclick: () => cast("yes"), "aria-keyshortcuts": keyboard && "Y ArrowRight" }, `${t("voting.yes")} `, key("Y"));
  const choice = h("div", { class: "choice" }, pass, yes);
  let sending = false;
  let running = "";

  const press = (event) => {
    const vote = KEYS[event.key];
    if (!vote || !preferences().keyboard || isTaken(event)) return;
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
      // A room may have a vote of another length.
      ring.run(match.vote_by, app.rooms.isInMain ? app.vote_window_s * 1000 : Date.parse(match.vote_by) - app.now(), true);
    }
    ring.element.classList.toggle("still", !open);
    pass.disabled = yes.disabled = !open || voted;
    choice.hidden = voted;
    status.textContent = voted ? t("voting.voted", { name }) : open ? t("voting.open") : t("voting.arriving", { name });
    if (voted && choice.contains(document.activeElement)) title.focus();
  };
  addEventListener("keydown", press);
  document.addEventListener("visibilitychange", acknowledge);
  return {
    title: t("voting.title", { name }),
    /** The seconds left, for the title of the window. */
    count: () => ring.left,
    root: h("section", { class: "meeting" }, h("div", { class: "meeting-head" }, title, ring.element), personCard(partner, app.profile?.interests ?? []),
      h("div", { class: "decide" }, status, choice),
      h("div", { class: "after" }, h("p", { class: "hint" }, app.rooms.isInMain ? t("voting.next", { minutes: app.date_minutes }) : t("voting.nextRoom")),
        h("div", { class: "quiet" }, button(t("common.block"), () => askToBlock(app, partner), "link"), button(t("common.report"), () => askToReport(app, partner, match_id), "link")))),
    update: show,
    opened: acknowledge,
    close() {
      ring.stop();
      removeEventListener("keydown", press);
      document.removeEventListener("visibilitychange", acknowledge);
    },
  };
}
