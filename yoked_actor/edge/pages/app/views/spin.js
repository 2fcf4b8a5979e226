// The page to start a spin.

import { button, h, heading } from "../dom.js";
import { orbs } from "./orbs.js";

/** @param {any} app */
export function spin(app) {
  const credit = h("p", { class: "hint" });
  const go = button("Spin", async () => {
    go.disabled = true;
    await app.spin();
    go.disabled = false;
  }, "main big");
  return {
    title: "Spin",
    root: h("section", { class: "center" }, orbs(), heading("Ready when you are"),
      h("p", { class: "lead" }, `We'll introduce you to one person. You both have ${app.vote_window_s} seconds to say yes or pass.`),
      h("div", { class: "actions" }, go), credit),
    update() {
      const points = app.snapshot?.credit ?? 0;
      credit.textContent = points > 0 ? `You have ${points} credit because a yes of yours wasn't returned. It moves you up the line.` : "";
    },
  };
}
