// Signing in: by a name on a server in development mode, by a token elsewhere.

import { h, heading } from "../dom.js";
import { refusal, suspension } from "../words.js";
import { orbs } from "./orbs.js";

/** A user id out of a name: ids know no spaces and no accents. */
const idOf = (name) => name.normalize("NFKD").replace(/\p{M}/gu, "").trim().toLowerCase().replace(/[^a-z0-9_.:@-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64);

/** @param {any} app */
export function signIn(app) {
  const field = app.dev
    ? h("input", { id: "name", name: "name", autocomplete: "username", maxlength: 64, required: true, spellcheck: "false", "aria-describedby": "problem sign-in-hint" })
    : h("input", { id: "token", name: "token", type: "password", autocomplete: "off", required: true, spellcheck: "false", "aria-describedby": "problem sign-in-hint" });
  const problem = h("p", { id: "problem", class: "problem", role: "alert" }, app.notice);
  const submit = h("button", { class: "main wide" }, "Sign in");
  const complain = (text) => {
    problem.textContent = text;
    field.setAttribute("aria-invalid", "true");
    field.focus();
  };
  const enter = async (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (!app.dev) return text ? app.signIn(text) : complain("Paste the token that you were given.");
    const id = idOf(text);
    if (!id) return complain("Enter a name with at least one letter or digit.");
    submit.disabled = true;
    try {
      app.signIn(await app.api.devLogin(id));
    } catch (error) {
      complain(error.code === "suspended" ? suspension(error.said) : refusal(error));
    } finally {
      submit.disabled = false;
    }
  };
  const form = h("form", { class: "panel", novalidate: true, onsubmit: enter },
    h("label", { for: field.id }, app.dev ? "Your name" : "Your token"), field,
    h("p", { id: "sign-in-hint", class: "hint" }, app.dev
      ? "This is a development server: any name will do, and there is no password. Another tab can be another person."
      : "The site that brought you here, or whoever runs this server, gives you one."),
    problem, submit);
  return {
    title: "Sign in",
    root: h("section", { class: "welcome" },
      h("div", { class: "pitch" }, orbs(), heading("Meet somebody, now."),
        h("p", { class: "lead" }, `Spin, and you are put before one person who suits you. You have ${app.vote_window_s} seconds to say yes or pass. Two yeses, and you see each other on video.`)),
      form),
    update() { if (app.notice) problem.textContent = app.notice; },
  };
}
