// Before the server has said anything, and after it has said its last.

import { button, h, heading } from "../dom.js";

export function opening() {
  return { title: "Opening", root: h("section", { class: "narrow" }, heading("One moment…"), h("p", {}, "Asking the server where you are.")) };
}

/** @param {any} app */
export function replaced(app) {
  return {
    title: "Open elsewhere",
    root: h("section", { class: "narrow panel" }, heading("You are in another window"),
      h("p", {}, "You have opened this in another window or on another device, and that one speaks for you now. Only one can at a time."),
      h("div", { class: "actions" }, button("Use this window", () => app.comeBack(), "main"))),
  };
}
