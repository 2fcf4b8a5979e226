// Shown before the first answer of the server, and when another window has taken over.

import { button, h, heading } from "../dom.js";

export function opening() {
  return { title: "Loading", root: h("section", { class: "narrow" }, heading("Loading…"), h("p", {}, "Connecting to the server.")) };
}

/** @param {any} app */
export function replaced(app) {
  return {
    title: "Open in another window",
    root: h("section", { class: "narrow panel" }, heading("Yoked is open in another window"),
      h("p", {}, "You opened it in another window or on another device. Only one can be active at a time."),
      h("div", { class: "actions" }, button("Use this window", () => app.takeOver(), "main"))),
  };
}
