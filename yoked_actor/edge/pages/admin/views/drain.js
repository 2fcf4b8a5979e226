// Draining: stopping the server without losing data.

import { button, h, heading } from "/app/dom.js";
import { confirm } from "../parts.js";

/** @param {any} app */
export function drainView(app) {
  const state = h("p", { class: "lead", role: "status" });
  const act = async () => {
    if (!(await confirm({ title: "Drain and stop the server?", text: "New spins are refused, open votes are completed, all clients are told to reconnect, and the process exits. It starts again only if something restarts it, such as systemd.", act: "Drain" }))) return;
    if (await app.call("POST", "/api/admin/drain")) {
      app.draining = true;
      update();
    }
  };
  const go = button("Drain and stop…", act, "danger", app.may("admin") ? {} : { disabled: true, title: "This needs the role admin." });
  const update = () => {
    const draining = app.draining || app.status?.draining;
    state.textContent = draining ? "The server is draining. This page reconnects when the server starts again." : "The server is not draining.";
    go.disabled = Boolean(draining) || !app.may("admin");
  };
  return {
    title: "Drain",
    root: h("div", { class: "sections" }, heading("Drain"), state,
      h("div", { class: "panel" },
        h("p", {}, "Draining stops the server without losing data, for an upgrade or a move:"),
        h("ul", {}, h("li", {}, "new spins are refused,"), h("li", {}, "open votes are completed,"), h("li", {}, "clients are told when to reconnect,"), h("li", {}, "the database is closed cleanly, and the process exits.")),
        h("p", {}, "Waiting users keep their place in line."),
        h("div", { class: "actions" }, go))),
    update,
  };
}
