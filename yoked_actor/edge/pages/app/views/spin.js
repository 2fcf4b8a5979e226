// The page to start a spin.

import { button, h, heading } from "../dom.js";
import { preferences } from "../preferences.js";
import { t } from "../texts.js";
import { checkDevices } from "./check.js";
import { orbs } from "./orbs.js";

/** @param {any} app */
export function spin(app) {
  const credit = h("p", { class: "hint" });
  const go = button(t("spin.spin"), async () => {
    go.disabled = true;
    await app.spin();
    go.disabled = false;
  }, "main big");
  const check = button(t("check.settings"), () => checkDevices(() => { check.hidden = true; }), "link", { hidden: preferences().checked });
  return {
    title: t("spin.title"),
    root: h("section", { class: "center" }, orbs(), heading(t("spin.heading")),
      h("p", { class: "lead" }, t("spin.lead", { seconds: app.vote_window_s })),
      h("div", { class: "actions" }, go), credit, check),
    update() {
      const points = app.snapshot?.credit ?? 0;
      credit.textContent = points > 0 ? t("spin.credit", { credit: points }) : "";
    },
  };
}
