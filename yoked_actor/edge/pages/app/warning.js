// A warning of the operators: it stays until the user says that it was seen.

import { open } from "./dialogs.js";
import { button, h } from "./dom.js";

/** The warnings that are on the screen: the server repeats each until it was seen. @type {Set<string>} */
const shown = new Set();

/** @param {any} app @param {{warning_id: string, text: string}} warning */
export function showWarning(app, { warning_id, text }) {
  if (shown.has(warning_id)) return;
  shown.add(warning_id);
  const seen = async () => {
    dialog.close();
    await app.attempt(() => app.api.call("POST", `/api/warnings/${encodeURIComponent(warning_id)}/seen`));
  };
  const dialog = open("A message from the people who run this service", [h("p", {}, text)], [button("I have read this", seen, "main", { name: "seen" })]);
  // Closed without the button, it is shown again after the next connection.
  dialog.addEventListener("close", () => shown.delete(warning_id));
}
