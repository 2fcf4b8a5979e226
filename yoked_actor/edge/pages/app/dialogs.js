// Dialogs. They belong to the user, not to the page below: they stay open when the page changes.

import { button, h } from "./dom.js";
import { draftOf, keepDraft } from "./drafts.js";
import { t } from "./texts.js";
import { refusal } from "./words.js";

/** Show a dialog. It is removed when it closes, and the focus returns to where it was. */
export function open(title, body, actions, onclose = () => {}) {
  const id = `dialog-${crypto.randomUUID()}`;
  const dialog = h("dialog", { "aria-labelledby": id, onclose: () => { dialog.remove(); onclose(); } },
    h("form", { method: "dialog" }, h("h2", { id }, title), body, h("div", { class: "actions" }, actions)));
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Close all dialogs: the user has signed out. */
export const closeDialogs = () => document.querySelectorAll("dialog[open]").forEach((dialog) => dialog.close());

/** Ask whether to block a partner. @param {any} app @param {any} partner @param {() => void} [done] */
export function askToBlock(app, partner, done = () => {}) {
  const act = async () => {
    dialog.close();
    if (await app.block(partner)) done();
  };
  const dialog = open(t("block.heading", { name: partner.display_name }), h("p", {}, t("block.text")),
    [button(t("common.cancel"), () => dialog.close()), button(t("common.block"), act, "danger", { name: "block" })]);
}

/** Ask for a report about a partner, for the operators of this server. @param {any} app @param {any} partner @param {string} [match_id] */
export function askToReport(app, partner, match_id) {
  const name = partner.display_name;
  const before = draftOf(app.user, partner.user_id);
  const reason = h("textarea", { id: "report-reason", rows: 4, maxlength: 1000, required: true, "aria-describedby": "report-kept report-problem" });
  reason.value = before?.text ?? "";
  const keep = (text) => keepDraft(app.user, partner, match_id ?? before?.match_id, text);
  const problem = h("p", { id: "report-problem", class: "problem", role: "alert" });
  const say = (text) => {
    problem.textContent = text;
    reason.setAttribute("aria-invalid", "true");
    reason.focus();
  };
  reason.addEventListener("input", () => {
    keep(reason.value);
    problem.textContent = "";
    reason.removeAttribute("aria-invalid");
  });
  const send = button(t("report.send"), async () => {
    // The server takes no line breaks.
    const text = reason.value.replace(/\s+/g, " ").trim();
    if (!text) return say(t("report.needsText"));
    send.disabled = true;
    try {
      // Over HTTP: a report can be sent when the socket is lost, too.
      await app.api.report(partner.user_id, text, match_id ?? before?.match_id);
    } catch (error) {
      return say(refusal(error));
    } finally {
      send.disabled = false;
    }
    keep("");
    dialog.close();
    app.notify(t("report.sent"));
  }, "danger", { name: "report" });
  const dialog = open(t("report.heading", { name }),
    [h("p", {}, t("report.text", { name })), h("label", { for: "report-reason" }, t("report.label")), reason, h("p", { id: "report-kept", class: "hint" }, t("report.kept")), problem],
    [button(t("common.cancel"), () => { keep(""); dialog.close(); }), send]);
}
