// Active alerts.

import { h, heading } from "/app/dom.js";
import { when } from "../parts.js";
import { alertWords } from "../words.js";

/** @param {any} app */
export function alertsView(app) {
  const place = h("div", { class: "sections", role: "status" }, h("p", { class: "empty" }, "Loading…"));
  let shown = "";
  return {
    title: "Alerts",
    root: h("div", { class: "sections" }, heading("Alerts"), place),
    update() {
      if (!app.status) return;
      const { alerts } = app.status;
      // A screen reader would start over with every status: replace only what has changed.
      if (JSON.stringify(alerts) === shown) return;
      shown = JSON.stringify(alerts);
      place.replaceChildren(...(alerts.length === 0
        ? [h("p", { class: "empty" }, "No active alerts.")]
        : alerts.map((one) => {
          const { title, value, limit, advice } = alertWords(one);
          return h("section", { class: "panel alarm" }, h("h2", {}, title),
            h("p", {}, h("strong", {}, value), ` (limit: ${limit}).`, one.raised_at ? [" Since ", when(one.raised_at), "."] : ""),
            one.job_id ? h("p", {}, "First: ", h("a", { href: `#jobs/${one.job_id}` }, `job ${one.job_id}`), ".") : null,
            h("p", { class: "hint" }, advice));
        })));
    },
  };
}
