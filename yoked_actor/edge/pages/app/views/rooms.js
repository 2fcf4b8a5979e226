// The rooms: which are open, when the others open, and how to enter.

import { button, h, heading } from "../dom.js";
import { number, opening } from "../format.js";
import { t } from "../texts.js";
import { refusal } from "../words.js";

const ASK_EVERY_MS = 10_000;
/** Refusals after which the list on the screen is not true any more. */
const GONE = new Set(["room_closed", "unknown_room"]);

/** Whether and when a room is open. */
function times({ is_open, opens_at, closes_at }, now) {
  if (is_open) return closes_at ? t("rooms.openUntil", { time: opening(closes_at, now) }) : t("rooms.open");
  if (!opens_at) return t("rooms.closedNow");
  return closes_at ? t("rooms.opensUntil", { from: opening(opens_at, now), until: opening(closes_at, now) }) : t("rooms.opensAt", { time: opening(opens_at, now) });
}

/** How many people are in a room. */
function people({ here, capacity }) {
  if (capacity === undefined) return t("rooms.people", { count: here });
  const taken = t("rooms.places", { here: number(here), capacity: number(capacity) });
  return here >= capacity ? `${taken} · ${t("rooms.full")}` : taken;
}

/** Why a user may not enter. */
function refusedBecause(error, needs_code) {
  if (error.code === "forbidden") return t("rooms.notInvited");
  return error.code === "rate_limited" && needs_code ? t("rooms.tooManyCodes") : refusal(error);
}

/** A card that is drawn once and then updated, so that a code can be typed meanwhile. @param {any} app @param {string} room */
function roomCard(app, room) {
  const title = h("h2", { id: `room-${room}` });
  const description = h("p", { class: "description" });
  const time = h("p");
  const count = h("p", { class: "hint" });
  const here = h("p", { class: "answered" }, t("rooms.youAreHere"));
  const problem = h("p", { class: "problem", role: "alert", id: `problem-${room}` });
  const code = h("input", { id: `code-${room}`, name: "code", autocomplete: "off", spellcheck: "false", autocapitalize: "none", maxlength: 200, "aria-describedby": problem.id });
  const field = h("div", { class: "field" }, h("label", { for: code.id }, t("rooms.code")), code);
  const enter = h("button", { class: "main" }, t("rooms.enter"));
  let entry = app.rooms.find(room);
  let isEntering = false;

  const complain = (text) => {
    problem.textContent = text;
    if (!entry.needs_code) return;
    code.setAttribute("aria-invalid", "true");
    code.focus();
  };
  code.addEventListener("input", () => { problem.textContent = ""; code.removeAttribute("aria-invalid"); });
  const submit = async (event) => {
    event.preventDefault();
    const typed = entry.needs_code ? code.value.trim() : undefined;
    if (typed === "") return complain(t("rooms.needsCode"));
    problem.textContent = "";
    isEntering = true;
    show();
    try {
      await app.rooms.enter(room, typed);
    } catch (error) {
      if (GONE.has(error.code)) {
        app.notices.showError(refusal(error));
        app.rooms.load();
      } else complain(refusedBecause(error, entry.needs_code));
    } finally {
      isEntering = false;
      show();
    }
  };
  const form = h("form", { novalidate: true, onsubmit: submit }, field, problem, h("div", { class: "actions" }, enter));
  const show = () => {
    entry = app.rooms.find(room) ?? entry;
    const name = app.rooms.name(room);
    const isHere = app.rooms.current === room;
    title.textContent = name;
    description.textContent = entry.description;
    description.hidden = !entry.description;
    time.textContent = times(entry, app.now());
    time.className = entry.is_open ? "online" : "offline";
    count.textContent = people(entry);
    here.hidden = !isHere;
    form.hidden = isHere || !entry.is_open;
    field.hidden = !entry.needs_code;
    enter.disabled = isEntering || app.snapshot?.state !== "idle";
    enter.setAttribute("aria-label", t("rooms.enterName", { name }));
  };
  return { element: h("article", { class: "panel room", "aria-labelledby": title.id }, title, description, time, count, here, form), show };
}

/** @param {any} app */
export function rooms(app) {
  const list = h("div", { class: "stack" }, h("p", { class: "panel empty" }, t("common.loading")));
  const line = h("div", { class: "panel room", hidden: true }, h("p", {}, t("rooms.waiting")),
    h("div", { class: "actions" }, button(t("spinning.leave"), () => app.attempt(() => app.client.leave()))));
  /** @type {Map<string, {element: any, show: () => void}>} */
  const cards = new Map();
  let shown = "";

  const timer = setInterval(() => app.rooms.load(), ASK_EVERY_MS);
  return {
    title: t("rooms.title"),
    root: h("section", { class: "stack" }, heading(t("rooms.title")), h("p", { class: "lead" }, t("rooms.lead")), line, list),
    update() {
      line.hidden = app.snapshot?.state !== "waiting";
      const ids = (app.rooms.list ?? []).map(({ room }) => room);
      for (const room of ids) if (!cards.has(room)) cards.set(room, roomCard(app, room));
      // Moving a card would take the focus from its field.
      if (ids.join() !== shown) list.replaceChildren(...ids.map((room) => cards.get(room)?.element));
      shown = ids.join();
      for (const room of ids) cards.get(room)?.show();
    },
    opened: () => app.rooms.load(),
    close: () => clearInterval(timer),
  };
}
