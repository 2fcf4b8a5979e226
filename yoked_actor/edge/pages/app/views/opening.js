// Shown before the first answer of the server, when another window has taken over, and for an unknown address.

import { button, h, heading } from "../dom.js";
import { t } from "../texts.js";

export function opening() {
  return { title: t("opening.title"), root: h("section", { class: "narrow" }, heading(t("common.loading")), h("p", {}, t("opening.text"))) };
}

/** @param {any} app */
export function replaced(app) {
  return {
    title: t("replaced.title"),
    root: h("section", { class: "narrow panel" }, heading(t("replaced.heading")),
      h("p", {}, t("replaced.text")),
      h("div", { class: "actions" }, button(t("replaced.use"), () => app.takeOver(), "main"))),
  };
}

/** @param {any} app */
export function lost(app) {
  return {
    title: t("lost.title"),
    root: h("section", { class: "narrow panel" }, heading(t("lost.heading")), h("p", {}, t("lost.text")),
      h("div", { class: "actions" }, button(t("lost.back"), () => app.go("/"), "main"))),
  };
}
