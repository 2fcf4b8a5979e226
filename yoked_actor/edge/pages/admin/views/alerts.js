// The alerts that stand now.

import { h, heading } from "/app/dom.js";
import { when } from "../parts.js";
import { alertWords } from "../words.js";

/** @param {any} app */
export function alertsView(app) {
  const place = h("div", { class: "sections", role: "status" }, h("p", { class: "empty" }, "One moment…"));
  let shown = "";
  return {
    title: "Alerts",
    root: h("div", { class: "sections" }, heading("Alerts"), place),
    update() {
      if (!app.status) return;
      const { alerts } = app.status;
      // What is said again every two seconds would never be read out to its end.
      if (JSON.stringify(alerts) === shown) return;
      shown = JSON.stringify(alerts);
      place.replaceChildren(...(alerts.length === 0
        ? [h("p", { class: "empty" }, "No alert stands. All is well.")]
        : alerts.map((one) => {
          const { title, value, limit, advice } = alertWords(one);
          return h("section", { class: "panel alarm" }, h("h2", {}, title),
            h("p", {}, h("strong", {}, value), `, where ${limit} is the limit.`, one.raised_at ? [" Since ", when(one.raised_at), "."] : ""),
            one.job_id ? h("p", {}, "The first is ", h("a", { href: `#jobs/${one.job_id}` }, `job ${one.job_id}`), ".") : null,
            h("p", { class: "hint" }, advice));
        })));
    },
  };
}
