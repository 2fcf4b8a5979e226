// Connections: people who said yes to each other. When both are online, either can call.

import { facts, mark } from "../card.js";
import { button, h, heading } from "../dom.js";
import { t } from "../texts.js";
import { refusal } from "../words.js";
import { quietButtons } from "./offers.js";

const ASK_EVERY_MS = 10_000;

/** @param {any} app */
export function connections(app) {
  const list = h("div", { class: "stack" });
  const { client } = app;
  let alive = true;
  let shown = "";

  const card = (connection) => {
    const { partner, online } = connection;
    const name = partner.display_name;
    return h("article", { class: "panel offer" }, mark(partner),
      h("div", {}, h("h2", {}, name),
        h("p", { class: "facts" }, facts(partner)),
        h("p", { class: online ? "online" : "offline" }, online ? t("connections.online") : t("connections.offline")),
        h("div", { class: "actions" }, button(t("connections.start"), () => app.call(connection), "main", { disabled: !online, "aria-label": t("connections.startWith", { name }) })),
        quietButtons(app, partner, load)));
  };
  const load = async () => {
    try {
      const answer = await app.api.connections();
      const key = JSON.stringify(answer);
      if (!alive || key === shown) return;
      shown = key;
      list.replaceChildren(...(answer.connections.length > 0 ? answer.connections.map(card) : [h("p", { class: "panel empty" }, t("connections.none"))]));
    } catch (error) {
      if (alive && !shown) list.replaceChildren(h("p", { class: "panel empty" }, refusal(error)));
    }
  };
  client.addEventListener("connection", load);
  const timer = setInterval(load, ASK_EVERY_MS);
  load();
  return {
    title: t("connections.title"),
    root: h("section", { class: "stack" }, heading(t("connections.title")), h("p", { class: "lead" }, t("connections.lead")), list),
    close() { alive = false; clearInterval(timer); client.removeEventListener("connection", load); },
  };
}
