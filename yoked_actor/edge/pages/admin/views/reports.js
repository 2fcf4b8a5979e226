// Reports of users about each other and appeals: both people, the words, and what to do, with keys.

import { button, h, heading } from "/app/dom.js";
import { fill, label, userLink, when } from "../parts.js";
import { blockPair, dismissReport, suspend, unsuspend, warn } from "../moderation.js";

const KEYS_OFF = "yoked.admin-keys-off";
const PAGE = 200;

/** A person's card beside a report. @param {string} role @param {string} user_id @param {any} card */
const person = (role, user_id, card) => h("div", { class: "person" },
  h("p", { class: "note" }, role),
  h("p", {}, h("strong", {}, userLink(user_id, card?.display_name ?? user_id)), card ? ` ${card.age}, ${card.gender}` : ""),
  card ? h("p", { class: "note" }, user_id) : h("p", { class: "note" }, user_id.startsWith("~") ? "" : "no profile"),
  card?.interests.length ? h("ul", { class: "tags" }, card.interests.slice(0, 8).map((one) => h("li", {}, one))) : null);

/** The name of a report: for headings and screen readers. @param {any} one */
export const reportTitle = (one) => (one.kind === "appeal" ? `Appeal of ${one.reported}` : `${one.reporter} about ${one.reported}`);

/** @param {any} app */
export function reportsView(app) {
  const place = h("div", { class: "sections" }, h("p", { class: "empty" }, "Loading…"));
  const which = h("select", { id: "which-reports", onchange: () => load() }, h("option", { value: "1" }, "Open"), h("option", { value: "0" }, "All"));
  const keys = h("input", { type: "checkbox", id: "report-keys", checked: localStorage.getItem(KEYS_OFF) === null, onchange: () => (keys.checked ? localStorage.removeItem(KEYS_OFF) : localStorage.setItem(KEYS_OFF, "1")) });
  let reports = [];
  let shownCount = app.open_reports;
  let asked = 0;

  async function load() {
    const mine = ++asked;
    const found = await app.call("GET", `/api/admin/reports?open=${which.value}&limit=${PAGE}`);
    if (!found || mine !== asked) return;
    const index = Math.max(0, cards().indexOf(current()));
    const hadFocus = place.contains(document.activeElement);
    reports = found.reports;
    fill(place, reports.length ? reports.map(card) : h("p", { class: "empty" }, which.value === "1" ? "No open reports." : "No reports."));
    if (hadFocus) cards()[Math.min(index, reports.length - 1)]?.focus();
  }

  const cards = () => [...place.querySelectorAll("article")];
  const current = () => document.activeElement?.closest("article.report") ?? null;

  /** Move the focus to another report. @param {number} step */
  function move(step) {
    const all = cards();
    const at = all.indexOf(current());
    const next = all[at === -1 ? 0 : Math.min(all.length - 1, Math.max(0, at + step))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }

  const ACTS = {
    d: (one) => !one.resolved_at && dismissReport(app, one, load),
    w: (one) => one.kind === "report" && !one.reported.startsWith("~") && warn(app, one.reported, load, one),
    s: (one) => !one.suspended && !one.reported.startsWith("~") && suspend(app, one.reported, load, one),
    l: (one) => one.suspended && unsuspend(app, one.reported, load),
    o: (one) => { location.hash = `#users/${encodeURIComponent(one.reported)}`; },
  };

  function press(event) {
    // Keys are for the list alone: never while a dialog is open, a field has the focus, or keys are off.
    if (!keys.checked || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") || event.target.closest("input, select, textarea, [contenteditable]")) return;
    if (event.key === "j" || event.key === "k") {
      move(event.key === "j" ? 1 : -1);
      return event.preventDefault();
    }
    const act = Object.hasOwn(ACTS, event.key) ? ACTS[event.key] : null;
    const one = reports[cards().indexOf(current())];
    if (!act || !one || (event.key !== "o" && !app.may("moderator"))) return;
    event.preventDefault();
    act(one);
  }
  document.addEventListener("keydown", press);

  const card = (one) => h("article", { class: `panel report${one.kind === "appeal" ? " appeal" : ""}`, tabindex: "-1", "aria-labelledby": `report-${one.report_id}` },
    h("div", { class: "headline" },
      h("h2", { id: `report-${one.report_id}` }, reportTitle(one)),
      one.kind === "appeal" ? label("appeal", "busy") : null, one.match_id ? label(`match ${one.match_id}`) : null,
      one.reported_times > 1 ? label(`reported by ${one.reported_times} users`, "warn") : null, one.suspended ? label("suspended", "bad") : null, one.resolved_at ? label("closed", "good") : null,
      h("span", { class: "note" }, when(one.at))),
    h("div", { class: "two-people" },
      one.kind === "appeal" ? null : person("Reporter", one.reporter, one.reporter_card),
      person(one.kind === "appeal" ? "Suspended user" : "Reported user", one.reported, one.reported_card)),
    h("blockquote", {}, one.reason || h("span", { class: "note" }, "The words were deleted with an erased user.")),
    one.resolved_at ? h("p", { class: "note" }, `Closed by ${one.resolved_by}, `, when(one.resolved_at), `: ${one.resolution}`) : null,
    app.may("moderator") ? h("div", { class: "actions" },
      one.resolved_at ? null : button(one.kind === "appeal" ? "Dismiss the appeal" : "Dismiss", () => dismissReport(app, one, load), "small"),
      one.kind === "appeal" || one.reported.startsWith("~") ? null : button(`Warn ${one.reported}`, () => warn(app, one.reported, load, one), "small"),
      one.suspended ? button("Lift the suspension", () => unsuspend(app, one.reported, load), "small") : one.reported.startsWith("~") ? null : button(`Suspend ${one.reported}`, () => suspend(app, one.reported, load, one), "small danger"),
      one.kind === "appeal" || one.reporter.startsWith("~") || one.reported.startsWith("~") ? null : button("Block this pair", () => blockPair(app, one.reporter, one.reported, load), "small")) : null);

  load();
  return {
    title: "Reports",
    root: h("div", { class: "sections" }, heading("Reports"),
      h("form", { class: "filters", onsubmit: (event) => event.preventDefault() },
        h("div", {}, h("label", { for: "which-reports" }, "Show"), which),
        h("p", { class: "check" }, keys, h("label", { for: "report-keys" }, "Keys")),
        h("p", { class: "hint keys" }, h("kbd", {}, "j"), h("kbd", {}, "k"), " move, ",
          app.may("moderator") ? [h("kbd", {}, "d"), " dismiss, ", h("kbd", {}, "w"), " warn, ", h("kbd", {}, "s"), " suspend, ", h("kbd", {}, "l"), " lift, "] : null,
          h("kbd", {}, "o"), " open the person")),
      place),
    update() {
      // New reports arrive live, but not under the operator's hands.
      if (app.open_reports === shownCount || document.querySelector("dialog[open]")) return;
      shownCount = app.open_reports;
      load();
    },
    leave() {
      asked++;
      document.removeEventListener("keydown", press);
    },
  };
}
