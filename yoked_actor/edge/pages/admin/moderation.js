// What moderators do to users and reports. Each asks for a reason, which is kept in the audit log.

import { h } from "/app/dom.js";
import { confirm } from "./parts.js";

const DAY_MS = 86_400_000;

/** Ask, call, load again, and say what was done. */
async function act(app, question, path, body, then, notice) {
  const text = await confirm(question);
  if (text === null) return;
  if (!(await app.call("POST", path, body(text)))) return;
  await then();
  app.notify(notice);
}

const userPath = (user_id, what) => `/api/admin/users/${encodeURIComponent(user_id)}/${what}`;
/** With an open report, the action closes it. @param {any} report */
const closing = (report) => (report && !report.resolved_at ? { report_id: report.report_id } : {});
const alsoCloses = (report) => (report && !report.resolved_at ? " This report is closed." : "");

/** @param {any} app @param {string} user_id @param {() => any} then @param {any} [report] */
export function suspend(app, user_id, then, report) {
  const ends = h("select", { id: "suspension-ends" }, h("option", { value: "" }, "when it is lifted"), [1, 7, 30].map((days) => h("option", { value: days }, days === 1 ? "after 1 day" : `after ${days} days`)), h("option", { value: "date" }, "on a date…"));
  const tomorrow = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10);
  const day = h("input", { type: "date", id: "suspension-date", min: tomorrow, value: tomorrow });
  const dayField = h("div", { hidden: true }, h("label", { for: "suspension-date" }, "Until the start of"), day);
  ends.addEventListener("change", () => { dayField.hidden = ends.value !== "date"; });
  const until = () => {
    if (ends.value === "") return null;
    if (ends.value === "date") return new Date(`${day.value || tomorrow}T00:00`).toISOString();
    return new Date(Date.now() + Number(ends.value) * DAY_MS).toISOString();
  };
  return act(app,
    { title: `Suspend ${user_id}?`, text: `Their match or date ends immediately, and they cannot use the service until the suspension ends. They see the reason.${alsoCloses(report)}`, act: "Suspend", ask: "Reason (shown to the user)", placeholder: report?.reason ?? "", more: [h("label", { for: "suspension-ends" }, "The suspension ends"), ends, dayField] },
    userPath(user_id, "suspend"), (reason) => ({ reason, until: until(), ...closing(report) }), then, `${user_id} is suspended.`);
}

/** @param {any} app @param {string} user_id @param {() => any} then */
export const unsuspend = (app, user_id, then) => act(app,
  { title: `Lift the suspension of ${user_id}?`, text: "The user can use the service again.", act: "Lift the suspension" },
  userPath(user_id, "unsuspend"), () => undefined, then, `${user_id} is no longer suspended.`);

/** @param {any} app @param {string} user_id @param {() => any} then @param {any} [report] */
export const warn = (app, user_id, then, report) => act(app,
  { title: `Warn ${user_id}?`, text: `They are shown your words, now or when they next open the app, until they have seen them.${alsoCloses(report)}`, act: "Warn", ask: "Words (shown to the user)", placeholder: "Please be kind to the people you meet." },
  userPath(user_id, "warn"), (text) => ({ text, ...closing(report) }), then, `${user_id} is warned.`);

/** @param {any} app @param {any} report @param {() => any} then */
export const dismissReport = (app, report, then) => act(app,
  { title: `Dismiss ${report.kind === "appeal" ? "appeal" : "report"} ${report.report_id}?`, text: "It is closed and nothing else happens. No user is told.", act: "Dismiss", ask: "Reason", placeholder: "No rule was broken" },
  `/api/admin/reports/${report.report_id}/resolve`, (resolution) => ({ resolution }), then, `${report.kind === "appeal" ? "Appeal" : "Report"} ${report.report_id} is closed.`);

/** @param {any} app @param {string} reporter @param {string} reported @param {() => any} then */
export const blockPair = (app, reporter, reported, then) => act(app,
  { title: "Block this pair?", text: `${reporter} and ${reported} will never be matched again, as if ${reporter} had blocked ${reported}. A match or date between them ends now.`, act: "Block" },
  userPath(reporter, "block"), () => ({ user_id: reported }), then, `${reporter} and ${reported} will not be matched again.`);
