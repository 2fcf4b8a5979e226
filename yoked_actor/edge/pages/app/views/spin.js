// The page to start a spin.

import { button, h, heading } from "../dom.js";
import { preferences } from "../preferences.js";
import { roomLine } from "../room-line.js";
import { t } from "../texts.js";
import { checkDevices } from "./check.js";
import { orbs } from "./orbs.js";

/** @param {any} app */
export function spin(app) {
  const room = roomLine(app);
  const lead = h("p", { class: "lead" });
  const credit = h("p", { class: "hint" });
  const go = button(t("spin.spin"), async () => {
    go.disabled = true;
    await app.spin();
    go.disabled = false;
  }, "main big");
  const check = button(t("check.settings"), () => checkDevices(() => { check.hidden = true; }), "link", { hidden: preferences().checked });
  return {
    title: t("spin.title"),
    root: h("section", { class: "center" }, orbs(), heading(t("spin.heading")), room.element, lead,
      h("div", { class: "actions" }, go), credit, check),
    update() {
      room.show();
      // A room may have a vote of another length.
      lead.textContent = app.rooms.isInMain ? t("spin.lead", { seconds: app.vote_window_s }) : t("spin.leadRoom");
      const points = app.snapshot?.credit ?? 0;
      credit.textContent = points > 0 ? t("spin.credit", { credit: points }) : "";
    },
  };
}
