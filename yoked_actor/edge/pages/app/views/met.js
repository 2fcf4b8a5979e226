// Recently met: everyone of the last weeks, to report, block, stay in touch with, or call.

import { facts, mark } from "../card.js";
import { button, h, heading } from "../dom.js";
import { moment } from "../format.js";
import { known, t } from "../texts.js";
import { refusal } from "../words.js";
import { quietButtons } from "./offers.js";

/** @param {any} app */
export function met(app) {
  const list = h("div", { class: "stack" });
  const { client } = app;
  let alive = true;

  const answer = async (one, choice) => {
    if (await app.stayInTouch(one.date_id, one.partner, choice)) load();
  };
  const choices = (one) => {
    const name = one.partner.display_name;
    if (one.connection_id) return [h("p", { class: "answered" }, t("met.connected")), h("div", { class: "actions" }, button(t("connections.start"), () => app.call(one), "main", { "aria-label": t("connections.startWith", { name }) }))];
    if (!one.touch_until || one.answer || Date.parse(one.touch_until) <= app.now()) return [];
    return [h("p", {}, t("touch.heading", { name })), h("div", { class: "actions" }, button(t("touch.no"), () => answer(one, "no")), button(t("touch.yes"), () => answer(one, "yes"), "main")), h("p", { class: "hint" }, t("touch.until", { time: moment(one.touch_until) }))];
  };
  const card = (one) => h("article", { class: "panel offer" }, mark(one.partner),
    h("div", {}, h("h2", {}, one.partner.display_name), h("p", { class: "facts" }, facts(one.partner)),
      h("p", {}, one.date_id ? t("met.date") : known(`met.${one.outcome}`, t("met.cancelled")), " ", h("time", { class: "hint", datetime: one.at }, moment(one.at))),
      choices(one), quietButtons(app, one.partner, load, one.match_id)));
  const load = async () => {
    try {
      const { met: people } = await app.api.met();
      if (alive) list.replaceChildren(...(people.length > 0 ? people.map(card) : [h("p", { class: "panel empty" }, t("met.none", { days: app.met_days }))]));
    } catch (error) {
      if (alive) list.replaceChildren(h("p", { class: "panel empty" }, refusal(error)));
    }
  };
  client.addEventListener("connection", load);
  load();
  return {
    title: t("met.title"),
    root: h("section", { class: "stack" }, heading(t("met.title")), h("p", { class: "lead" }, t("met.lead", { days: app.met_days })), list),
    close() { alive = false; client.removeEventListener("connection", load); },
  };
}
