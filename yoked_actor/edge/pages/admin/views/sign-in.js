// Signing in, with a token that has the role of an operator.

import { h, heading } from "/app/dom.js";
import { refusal } from "../words.js";

/** @param {any} app */
export function signInView(app) {
  const field = h("input", { id: "token", type: "password", autocomplete: "off", spellcheck: "false", required: true, "aria-describedby": "problem token-hint" });
  const problem = h("p", { id: "problem", class: "problem", role: "alert" }, app.notice);
  const submit = h("button", { class: "main wide" }, "Sign in");
  const showProblem = (text) => {
    problem.textContent = text;
    field.setAttribute("aria-invalid", "true");
    field.focus();
  };
  const enter = async (event) => {
    event.preventDefault();
    const token = field.value.trim();
    if (!token) return showProblem("Paste an operator token.");
    submit.disabled = true;
    try {
      await app.signIn(token);
    } catch (error) {
      showProblem(refusal(error));
    } finally {
      submit.disabled = false;
    }
  };
  const command = app.dev ? "yoked-actor token YOUR-NAME --admin --dev" : "yoked-actor token YOUR-NAME --admin";
  return {
    title: "Sign in",
    root: h("section", { class: "narrow" }, heading("Operator console"),
      h("p", { class: "lead" }, "Waiting users, matches, reports, jobs, offers and alerts."),
      h("form", { class: "panel", novalidate: true, onsubmit: enter },
        h("label", { for: "token" }, "Operator token"), field,
        h("p", { id: "token-hint", class: "hint" }, "To create a token that is valid for one hour, run on the server:"),
        h("pre", { class: "command", tabindex: "0" }, command),
        app.dev ? h("p", { class: "hint" }, "Use the same --data or --config as the server.") : h("p", { class: "hint" }, "Use the same --config as the server. The token is stored in this tab only."),
        problem, submit)),
    update() {},
  };
}
