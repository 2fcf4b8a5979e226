// A suspended user reads why and until when, and can write to the people who decide.

import { button, h, heading } from "../dom.js";
import { download } from "../my-data.js";
import { t } from "../texts.js";
import { refusal, suspendedUntil } from "../words.js";

/** @param {any} app */
export function suspended(app) {
  const { reason, until } = app.suspended;
  const text = h("textarea", { id: "appeal", rows: 5, maxlength: 1000, "aria-describedby": "appeal-hint appeal-problem" });
  const problem = h("p", { id: "appeal-problem", class: "problem", role: "alert" });
  const send = h("button", { class: "main" }, t("suspended.appealSend"));
  const say = (words) => {
    problem.textContent = words;
    text.setAttribute("aria-invalid", "true");
    text.focus();
  };
  text.addEventListener("input", () => { problem.textContent = ""; text.removeAttribute("aria-invalid"); });
  const appeal = async (event) => {
    event.preventDefault();
    // The server takes no line breaks.
    const words = text.value.replace(/\s+/g, " ").trim();
    if (!words) return say(t("suspended.appealNeeds"));
    send.disabled = true;
    try {
      await app.api.appeal(words);
      form.replaceChildren(h("p", { class: "answered", role: "status" }, t("suspended.appealSent")));
    } catch (error) {
      say(error.code === "rate_limited" ? t("suspended.appealTwice") : refusal(error));
    } finally {
      send.disabled = false;
    }
  };
  const form = h("form", { class: "panel", novalidate: true, onsubmit: appeal },
    h("h2", {}, t("suspended.appealHeading")), h("label", { for: "appeal" }, t("suspended.appealLabel")), text,
    h("p", { id: "appeal-hint", class: "hint" }, t("suspended.appealHint")), problem, h("div", { class: "actions" }, send));
  return {
    title: t("suspended.title"),
    root: h("section", { class: "narrow suspended" },
      h("div", { class: "panel", role: "alert" }, heading(t("suspended.heading")), h("p", { class: "lead" }, suspendedUntil(until)), h("p", {}, t("suspended.reason", { reason }))),
      form,
      h("div", { class: "actions" }, button(t("suspended.again"), () => app.takeOver()), button(t("settings.download"), () => download(app)))),
  };
}
