// Connections: people who accepted each other's offer. When both are online, either can start a date.

import { facts, mark } from "../card.js";
import { button, h, heading } from "../dom.js";
import { refusal } from "../words.js";

const ASK_EVERY_MS = 10_000;

/** @param {any} app */
export function connections(app) {
  const list = h("div", { class: "stack" });
  const { client } = app;
  let alive = true;
  let shown = "";

  const card = (connection) => {
    const { partner, online } = connection;
    return h("article", { class: "panel offer" }, mark(partner),
      h("div", {}, h("h2", {}, partner.display_name),
        h("p", { class: "facts" }, facts(partner)),
        h("p", { class: online ? "online" : "offline" }, online ? "Online" : "Offline"),
        h("div", { class: "actions" }, button("Start a video date", () => app.attempt(() => client.startDate(connection.connection_id)), "main", { disabled: !online, "aria-label": `Start a video date with ${partner.display_name}` }))));
  };
  const load = async () => {
    try {
      const answer = await app.api.connections();
      const key = JSON.stringify(answer);
      if (!alive || key === shown) return;
      shown = key;
      list.replaceChildren(...(answer.connections.length > 0 ? answer.connections.map(card) : [h("p", { class: "panel empty" }, "No connections yet. When you and someone else accept each other's offer, they appear here.")]));
    } catch (error) {
      if (alive && !shown) list.replaceChildren(h("p", { class: "panel empty" }, refusal(error)));
    }
  };
  client.addEventListener("connection", load);
  const timer = setInterval(load, ASK_EVERY_MS);
  load();
  return {
    title: "Connections",
    root: h("section", { class: "stack" }, heading("Connections"), h("p", { class: "lead" }, "You both said yes. When you're both online, either of you can start a video date."), list),
    close() { alive = false; clearInterval(timer); client.removeEventListener("connection", load); },
  };
}
