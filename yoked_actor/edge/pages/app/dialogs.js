// Dialogs that ask before an action that cannot be undone.

import { button, h } from "./dom.js";

/** Show a dialog. It is removed when it closes, and the focus returns to where it was. */
export function open(title, body, actions) {
  const id = `dialog-${crypto.randomUUID()}`;
  const dialog = h("dialog", { "aria-labelledby": id, onclose: () => dialog.remove() },
    h("form", { method: "dialog" }, h("h2", { id }, title), body, h("div", { class: "actions" }, actions)));
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Ask whether to block a partner. @param {any} app @param {any} partner */
export function askToBlock(app, partner) {
  const act = () => {
    dialog.close();
    app.block(partner);
  };
  const dialog = open(`Block ${partner.display_name}?`,
    h("p", {}, "You'll never be matched again, and your match or date ends now. They won't be told why."),
    [button("Cancel", () => dialog.close()), button("Block", act, "danger", { name: "block" })]);
}

/** Ask for a report about a partner, for the operators of this server. @param {any} app @param {any} partner @param {string} [match_id] */
export function askToReport(app, partner, match_id) {
  const reason = h("textarea", { id: "report-reason", rows: 4, maxlength: 1000, required: true, "aria-describedby": "report-problem" });
  const problem = h("p", { id: "report-problem", class: "problem", role: "alert" });
  const act = async () => {
    // The server takes no line breaks.
    const text = reason.value.replace(/\s+/g, " ").trim();
    if (!text) {
      problem.textContent = "Please describe what happened.";
      reason.setAttribute("aria-invalid", "true");
      return reason.focus();
    }
    dialog.close();
    if (await app.attempt(() => app.client.report(partner.user_id, text, match_id))) app.notify("Thank you. We've received your report.");
  };
  const dialog = open(`Report ${partner.display_name}?`,
    [h("p", {}, "Your report only goes to the people who run this service."), h("label", { for: "report-reason" }, "What happened?"), reason, problem],
    [button("Cancel", () => dialog.close()), button("Send report", act, "danger", { name: "report" })]);
}
