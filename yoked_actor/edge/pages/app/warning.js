// A warning of the operators: it stays until the user says that it was seen.

import { open } from "./dialogs.js";
import { button, h } from "./dom.js";
import { t } from "./texts.js";

/** The warnings that are on the screen: the server repeats each until it was seen. @type {Set<string>} */
const shown = new Set();

/** @param {any} app @param {{warning_id: string, text: string}} warning */
export function showWarning(app, { warning_id, text }) {
  if (shown.has(warning_id)) return;
  shown.add(warning_id);
  const seen = async () => {
    dialog.close();
    await app.attempt(() => app.api.warningSeen(warning_id));
  };
  const dialog = open(t("warning.heading"), [h("p", {}, text)], [button(t("warning.seen"), seen, "main", { name: "seen" })]);
  // Closed without the button, it is shown again after the next connection.
  dialog.addEventListener("close", () => shown.delete(warning_id));
}
