// Questions that are asked before something that cannot be taken back.

import { button, h } from "./dom.js";

/** Show a dialog; it is gone when it closes, and focus returns to where it was. */
function open(title, body, actions) {
  const id = `dialog-${crypto.randomUUID()}`;
  const dialog = h("dialog", { "aria-labelledby": id, onclose: () => dialog.remove() },
    h("form", { method: "dialog" }, h("h2", { id }, title), body, h("div", { class: "actions" }, actions)));
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Block somebody, if one is sure. @param {any} app @param {any} partner */
export function askToBlock(app, partner) {
  const act = () => {
    dialog.close();
    app.block(partner);
  };
  const dialog = open(`Block ${partner.display_name}?`,
    h("p", {}, "You will never be introduced to each other again, and whatever you are in together ends now. They are not told why."),
    [button("Keep", () => dialog.close()), button("Block", act, "danger", { name: "block" })]);
}

/** Report somebody to whoever runs this server. @param {any} app @param {any} partner @param {string} [match_id] */
export function askToReport(app, partner, match_id) {
  const reason = h("textarea", { id: "report-reason", rows: 4, maxlength: 1000, required: true, "aria-describedby": "report-problem" });
  const problem = h("p", { id: "report-problem", class: "problem", role: "alert" });
  const act = async () => {
    const text = reason.value.trim();
    if (!text) {
      problem.textContent = "Say in a few words what happened.";
      reason.setAttribute("aria-invalid", "true");
      return reason.focus();
    }
    dialog.close();
    if (await app.attempt(() => app.client.report(partner.user_id, text, match_id))) app.tell("Thank you. Your report has reached the people who run this server.");
  };
  const dialog = open(`Report ${partner.display_name}?`,
    [h("p", {}, "Your report goes to the people who run this server, and to nobody else."), h("label", { for: "report-reason" }, "What happened?"), reason, problem],
    [button("Cancel", () => dialog.close()), button("Send report", act, "danger", { name: "report" })]);
}
