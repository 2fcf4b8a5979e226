// Signing in, with a token that has the role of an operator.

import { h, heading } from "/app/dom.js";
import { refusal } from "../words.js";

/** @param {any} app */
export function signInView(app) {
  const field = h("input", { id: "token", type: "password", autocomplete: "off", spellcheck: "false", required: true, "aria-describedby": "problem token-hint" });
  const problem = h("p", { id: "problem", class: "problem", role: "alert" }, app.notice);
  const submit = h("button", { class: "main wide" }, "Sign in");
  const complain = (text) => {
    problem.textContent = text;
    field.setAttribute("aria-invalid", "true");
    field.focus();
  };
  const enter = async (event) => {
    event.preventDefault();
    const token = field.value.trim();
    if (!token) return complain("Paste an operator's token.");
    submit.disabled = true;
    try {
      await app.signIn(token);
    } catch (error) {
      complain(refusal(error));
    } finally {
      submit.disabled = false;
    }
  };
  const command = app.dev ? "yoked-actor token YOUR-NAME --admin --dev" : "yoked-actor token YOUR-NAME --admin";
  return {
    title: "Sign in",
    root: h("section", { class: "narrow" }, heading("The operator's console"),
      h("p", { class: "lead" }, "Who waits and why, what the jobs do, what people report; and what can be done about it."),
      h("form", { class: "panel", novalidate: true, onsubmit: enter },
        h("label", { for: "token" }, "An operator's token"), field,
        h("p", { id: "token-hint", class: "hint" }, "On the machine of the server this makes one, good for an hour:"),
        h("pre", { class: "command", tabindex: "0" }, command),
        app.dev ? h("p", { class: "hint" }, "Give it the same --data or --config as the server.") : h("p", { class: "hint" }, "Give it the same --config as the server. The token is kept in this tab only."),
        problem, submit)),
    update() {},
  };
}
