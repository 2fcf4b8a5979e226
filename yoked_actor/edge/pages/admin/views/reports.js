// Reports of users about each other, and the actions on them.

import { button, h, heading } from "/app/dom.js";
import { confirm, label, when } from "../parts.js";

/** @param {any} app */
export function reportsView(app) {
  const place = h("div", { class: "sections" }, h("p", { class: "empty" }, "Loading…"));
  const which = h("select", { id: "which-reports", onchange: () => load() }, h("option", { value: "1" }, "Open"), h("option", { value: "0" }, "All"));

  async function load() {
    const found = await app.call("GET", `/api/admin/reports?open=${which.value}&limit=200`);
    if (!found) return;
    place.replaceChildren(...(found.reports.length ? found.reports.map(card) : [h("p", { class: "empty" }, which.value === "1" ? "No open reports." : "No reports.")]));
  }

  async function act(question, method, path, body, notice) {
    const text = await confirm(question);
    if (text === null) return;
    if (!(await app.call(method, path, body(text)))) return;
    await load();
    app.notify(notice);
  }

  function suspend({ reported, reason }) {
    const ends = h("select", { id: "suspension-ends" }, h("option", { value: "" }, "when it is lifted"), [1, 7, 30].map((days) => h("option", { value: days }, days === 1 ? "after 1 day" : `after ${days} days`)));
    const until = () => (ends.value ? new Date(Date.now() + Number(ends.value) * 86_400_000).toISOString() : null);
    return act(
      { title: `Suspend ${reported}?`, text: "Their match or date ends immediately, and they cannot use the service until the suspension ends. They see the reason.", act: "Suspend", ask: "Reason (shown to the user)", placeholder: reason, more: [h("label", { for: "suspension-ends" }, "The suspension ends"), ends] },
      "POST", `/api/admin/users/${encodeURIComponent(reported)}/suspend`, (reason) => ({ reason, until: until() }), `${reported} is suspended.`);
  }
  const unsuspend = ({ reported }) => act(
    { title: `Lift the suspension of ${reported}?`, text: "The user can use the service again.", act: "Lift the suspension" },
    "POST", `/api/admin/users/${encodeURIComponent(reported)}/unsuspend`, () => undefined, `${reported} is no longer suspended.`);
  const block = ({ reporter, reported }) => act(
    { title: "Block this pair?", text: `${reporter} and ${reported} will never be matched again, as if ${reporter} had blocked ${reported}. A match or date between them ends now.`, act: "Block" },
    "POST", `/api/admin/users/${encodeURIComponent(reporter)}/block`, () => ({ user_id: reported }), `${reporter} and ${reported} will not be matched again.`);
  const resolve = ({ report_id }) => act(
    { title: `Close report ${report_id}?`, text: "It is removed from the open reports.", act: "Close", ask: "Resolution" },
    "POST", `/api/admin/reports/${report_id}/resolve`, (resolution) => ({ resolution }), `Report ${report_id} is closed.`);

  const card = (one) => h("article", { class: "panel report", "aria-labelledby": `report-${one.report_id}` },
    h("h2", { id: `report-${one.report_id}` }, `${one.reporter} about ${one.reported}`),
    h("p", { class: "headline" }, when(one.at), one.match_id ? label(`match ${one.match_id}`) : null, one.reported_times > 1 ? label(`reported ${one.reported_times} times`, "warn") : null, one.suspended ? label("suspended", "bad") : null, one.resolved_at ? label("closed", "good") : null),
    h("blockquote", {}, one.reason),
    one.resolved_at ? h("p", { class: "note" }, `Closed by ${one.resolved_by}, `, when(one.resolved_at), `: ${one.resolution}`) : null,
    h("div", { class: "actions" },
      one.suspended ? button("Lift the suspension", () => unsuspend(one), "small") : button(`Suspend ${one.reported}`, () => suspend(one), "small danger"),
      button("Block this pair", () => block(one), "small"),
      one.resolved_at ? null : button("Close report", () => resolve(one), "small")));

  load();
  return {
    title: "Reports",
    root: h("div", { class: "sections" }, heading("Reports"),
      h("form", { class: "filters", onsubmit: (event) => event.preventDefault() }, h("div", {}, h("label", { for: "which-reports" }, "Show"), which)),
      place),
  };
}
