// A line that says in which room the user is; hidden while there is no other room.

import { h } from "./dom.js";
import { opening } from "./format.js";
import { t } from "./texts.js";

/** @param {any} app */
export function roomLine(app) {
  const where = h("span");
  const element = h("p", { class: "room-line", hidden: true }, where, " ", h("a", { href: "/rooms" }, t("rooms.others")));
  const show = () => {
    const { rooms } = app;
    element.hidden = !rooms.isShown;
    const { is_open, closes_at } = rooms.find(rooms.current) ?? {};
    const until = is_open && closes_at ? ` ${t("rooms.openUntil", { time: opening(closes_at, app.now()) })}.` : "";
    where.textContent = t("rooms.here", { name: rooms.name(rooms.current) }) + until;
  };
  return { element, show };
}
