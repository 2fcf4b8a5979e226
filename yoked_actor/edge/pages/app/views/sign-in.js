// Signing in: with a name on a development server, with a token otherwise.

import { h, heading } from "../dom.js";
import { refusal, suspension } from "../words.js";
import { orbs } from "./orbs.js";

/** A user ID made from a name: IDs have no spaces and no accents. */
const idOf = (name) => name.normalize("NFKD").replace(/\p{M}/gu, "").trim().toLowerCase().replace(/[^a-z0-9_.:@-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64);

/** @param {any} app */
export function signIn(app) {
  const field = app.dev
    ? h("input", { id: "name", name: "name", autocomplete: "username", maxlength: 64, required: true, spellcheck: "false", "aria-describedby": "problem sign-in-hint" })
    : h("input", { id: "token", name: "token", type: "password", autocomplete: "off", required: true, spellcheck: "false", "aria-describedby": "problem sign-in-hint" });
  const problem = h("p", { id: "problem", class: "problem", role: "alert" }, app.sign_in_notice);
  const submit = h("button", { class: "main wide" }, "Sign in");
  const showProblem = (text) => {
    problem.textContent = text;
    field.setAttribute("aria-invalid", "true");
    field.focus();
  };
  const enter = async (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (!app.dev) return text ? app.signIn(text) : showProblem("Paste your token.");
    const id = idOf(text);
    if (!id) return showProblem("Enter a name with at least one letter or digit.");
    submit.disabled = true;
    try {
      app.signIn(await app.api.devLogin(id));
    } catch (error) {
      showProblem(error.code === "suspended" ? suspension(error.said) : refusal(error));
    } finally {
      submit.disabled = false;
    }
  };
  const form = h("form", { class: "panel", novalidate: true, onsubmit: enter },
    h("label", { for: field.id }, app.dev ? "Your name" : "Your token"), field,
    h("p", { id: "sign-in-hint", class: "hint" }, app.dev
      ? "This is a development server: any name works, and there is no password. To be another person, use another tab."
      : "You get a token from the site that sent you here, or from the people who run this service."),
    problem, submit);
  return {
    title: "Sign in",
    root: h("section", { class: "welcome" },
      h("div", { class: "pitch" }, orbs(), heading("Meet someone now"),
        h("p", { class: "lead" }, `Spin, and we'll introduce you to one person. You both have ${app.vote_window_s} seconds to say yes or pass. If you both say yes, you meet on video.`)),
      form),
    update() { if (app.sign_in_notice) problem.textContent = app.sign_in_notice; },
  };
}
