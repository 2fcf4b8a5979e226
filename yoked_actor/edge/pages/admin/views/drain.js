// Letting the server take its leave.

import { button, h, heading } from "/app/dom.js";
import { confirm } from "../parts.js";

/** @param {any} app */
export function drainView(app) {
  const state = h("p", { class: "lead", role: "status" });
  const act = async () => {
    if (!(await confirm({ title: "Drain and stop the server?", text: "Nobody can spin from now on, votes under way are finished, everybody is told to come back in a moment, and the process ends. It comes back only if something starts it again, as systemd does.", act: "Drain" }))) return;
    if (await app.call("POST", "/api/admin/drain")) {
      app.draining = true;
      update();
    }
  };
  const go = button("Drain and stop…", act, "danger");
  const update = () => {
    const draining = app.draining || app.status?.draining;
    state.textContent = draining ? "The server is draining. This page comes back by itself when it is started again." : "The server takes everybody.";
    go.disabled = Boolean(draining);
  };
  return {
    title: "Drain",
    root: h("div", { class: "sections" }, heading("Drain"), state,
      h("div", { class: "panel" },
        h("p", {}, "A drain is how a server is stopped without anybody losing anything, for an upgrade or a move:"),
        h("ul", {}, h("li", {}, "new spins are refused,"), h("li", {}, "votes under way get the time to be given,"), h("li", {}, "everybody is told to come back, and when,"), h("li", {}, "the database is put in order, and the process ends.")),
        h("p", {}, "Whoever waits keeps their place, over the restart too."),
        h("div", { class: "actions" }, go))),
    update,
  };
}
