// After a date: stay in touch?

import { mark } from "../card.js";
import { button, h, heading } from "../dom.js";
import { moment } from "../format.js";
import { t } from "../texts.js";
import { quietButtons } from "./offers.js";

/** @param {any} app */
export function touch(app) {
  const { date_id, partner, touch_until } = app.touch;
  const name = partner.display_name;
  const done = () => app.touched();
  const answer = async (choice) => {
    for (const one of buttons) one.disabled = true;
    if (await app.stayInTouch(date_id, partner, choice)) return done();
    for (const one of buttons) one.disabled = false;
  };
  const buttons = [button(t("touch.no"), () => answer("no"), "big"), button(t("touch.yes"), () => answer("yes"), "main big")];
  return {
    title: t("touch.title"),
    root: h("section", { class: "center touch" }, mark(partner, "large"), heading(t("touch.heading", { name })),
      h("p", { class: "lead" }, t("touch.text", { name })),
      h("div", { class: "actions" }, buttons),
      h("p", { class: "hint" }, t("touch.until", { time: moment(touch_until) }), " ", t("touch.laterHint", { name })),
      h("div", { class: "quiet" }, button(t("touch.later"), done, "link"), quietButtons(app, partner, done))),
  };
}
