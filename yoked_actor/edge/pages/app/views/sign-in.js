// Signing in: with a name on a development server, with a token otherwise.

import { h, heading } from "../dom.js";
import { t } from "../texts.js";
import { refusal } from "../words.js";
import { orbs } from "./orbs.js";

/** A user ID made from a name: IDs have no spaces and no accents. */
const idOf = (name) => name.normalize("NFKD").replace(/\p{M}/gu, "").trim().toLowerCase().replace(/[^a-z0-9_.:@-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64);

/** @param {any} app */
export function signIn(app) {
  const field = app.dev
    ? h("input", { id: "name", name: "name", autocomplete: "username", maxlength: 64, required: true, spellcheck: "false", "aria-describedby": "problem sign-in-hint" })
    : h("input", { id: "token", name: "token", type: "password", autocomplete: "off", required: true, spellcheck: "false", "aria-describedby": "problem sign-in-hint" });
  const problem = h("p", { id: "problem", class: "problem", role: "alert" }, app.sign_in_notice);
  const submit = h("button", { class: "main wide" }, t("signIn.submit"));
  const showProblem = (text) => {
    problem.textContent = text;
    field.setAttribute("aria-invalid", "true");
    field.focus();
  };
  field.addEventListener("input", () => { problem.textContent = ""; field.removeAttribute("aria-invalid"); });
  const enter = async (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (!app.dev) return text ? app.signIn(text) : showProblem(t("signIn.needsToken"));
    const id = idOf(text);
    if (!id) return showProblem(t("signIn.needsName"));
    submit.disabled = true;
    try {
      app.signIn(await app.api.devLogin(id));
    } catch (error) {
      showProblem(refusal(error));
    } finally {
      submit.disabled = false;
    }
  };
  const form = h("form", { class: "panel", novalidate: true, onsubmit: enter },
    h("label", { for: field.id }, app.dev ? t("signIn.name") : t("signIn.token")), field,
    h("p", { id: "sign-in-hint", class: "hint" }, app.dev ? t("signIn.devHint") : t("signIn.tokenHint")),
    problem, submit);
  return {
    title: t("signIn.title"),
    root: h("section", { class: "welcome" },
      h("div", { class: "pitch" }, orbs(), heading(t("signIn.heading")),
        h("p", { class: "lead" }, t("signIn.lead", { seconds: app.vote_window_s }))),
      form),
    update() { if (app.sign_in_notice) problem.textContent = app.sign_in_notice; },
  };
}
