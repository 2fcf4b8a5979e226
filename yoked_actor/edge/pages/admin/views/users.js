// Users: search by name or ID, and one page per person.

import { button, h, heading } from "/app/dom.js";
import { facts, fill, label, panel, table, userLink, when } from "../parts.js";
import { suspend, unsuspend, warn } from "../moderation.js";
import { OUTCOMES, actionWords } from "../words.js";
import { reportTitle } from "./reports.js";

const PAGE = 50;
const STATES = { idle: "Idle", waiting: "Waiting", matched: "Matched", voting: "Voting" };
const KINDS = { waiting: "busy", matched: "busy", voting: "busy" };
const suspended = (one) => (one.suspended_at ? [label("suspended", "bad"), one.suspended_until ? h("span", { class: "note" }, "until ", when(one.suspended_until)) : null] : "–");

/** @param {any} app @param {string} _id */
export function usersView(app, _id) {
  const place = h("div", { class: "sections" }, h("p", { class: "empty" }, "Loading…"));
  const search = h("input", { id: "user-search", type: "search", maxlength: 80, autocomplete: "off", spellcheck: "false", placeholder: "Ana, or ana-7f3b" });
  const only = h("input", { id: "only-suspended", type: "checkbox", onchange: () => load() });
  let users = [];
  let asked = 0;

  async function load({ more = false } = {}) {
    const mine = ++asked;
    const query = new URLSearchParams({ limit: String(PAGE) });
    if (search.value.trim()) query.set("search", search.value.trim());
    if (only.checked) query.set("suspended", "true");
    if (more) query.set("after", users.at(-1).user_id);
    const found = await app.call("GET", `/api/admin/users?${query}`);
    if (mine !== asked || !found) return;
    users = more ? [...users, ...found.users] : found.users;
    fill(place,
      table("Users", ["ID", "Name", "State", "Credit", "Reports", "Suspended"],
        users.map((one) => [userLink(one.user_id), one.display_name, label(STATES[one.state], KINDS[one.state]), one.credit.toLocaleString(), one.reports ? label(String(one.reports), "warn") : "0", suspended(one)]), "No users found."),
      found.more ? h("div", { class: "actions" }, button("Show more", () => load({ more: true }))) : null);
  }

  load();
  return {
    title: "Users",
    root: h("div", { class: "sections" }, heading("Users"),
      h("form", { class: "filters", role: "search", onsubmit: (event) => { event.preventDefault(); load(); } },
        h("div", {}, h("label", { for: "user-search" }, "Name or ID"), search),
        h("p", { class: "check" }, only, h("label", { for: "only-suspended" }, "Only suspended")),
        h("button", { class: "small" }, "Search")),
      place),
    leave() { asked++; },
  };
}

/** @param {any} app @param {string} id */
export function userView(app, id) {
  const place = h("div", { class: "sections" }, h("p", { class: "empty" }, "Loading…"));
  let gone = false;
  let user = null;

  async function load() {
    const found = await app.call("GET", `/api/admin/users/${encodeURIComponent(id)}`);
    if (gone) return;
    if (!found) return fill(place, h("p", { class: "empty" }, "Nothing is known about this user."));
    user = found;
    show();
  }

  const reports = (list, empty) => (list.length === 0 ? h("p", { class: "note" }, empty) : h("ul", { class: "plain-list" }, list.map((one) => h("li", {},
    h("p", {}, h("strong", {}, reportTitle(one)), " ", when(one.at), " ", one.resolved_at ? label("closed", "good") : label("open", "warn")),
    h("blockquote", {}, one.reason || "(deleted)"),
    one.resolved_at ? h("p", { class: "note" }, `${one.resolved_by}: ${one.resolution}`) : null))));

  function show() {
    const { suspension } = user;
    fill(place,
      h("div", { class: "headline" },
        label(STATES[user.state], KINDS[user.state]), user.connected ? label("connected", "good") : user.online ? label("online", "good") : label("offline"),
        suspension ? label("suspended", "bad") : null,
        app.may("moderator") ? h("div", { class: "actions" },
          button("Warn", () => warn(app, id, load), "small"),
          suspension ? button("Lift the suspension", () => unsuspend(app, id, load), "small") : button("Suspend", () => suspend(app, id, load), "small danger")) : null),
      suspension ? h("p", { class: "notice bad" }, `Suspended by ${suspension.by}, `, when(suspension.at), suspension.until ? [", until ", when(suspension.until)] : ", without an end", `: ${suspension.reason}`) : null,
      h("div", { class: "charts" },
        panel("Card", facts([["Name", user.display_name], ["Age", user.age === null ? null : String(user.age)], ["Gender", user.gender], ["Interests", user.interests.join(", ") || null], ["Time zone", user.time_zone]])),
        panel("State", facts([["State", STATES[user.state]], ["Waiting since", when(user.waiting_since)], ["Credit", String(user.credit)], ["Match", user.match_id], ["Date", user.date_id], ["Last match", user.last_match_id], ["Has blocked", user.blocks === 1 ? "1 user" : `${user.blocks} users`]]))),
      h("div", { class: "charts" },
        panel("Reports about this user", reports(user.reports_about, "None.")),
        panel("Reports by this user", reports(user.reports_by, "None."))),
      user.warnings.length ? panel("Warnings", table("Warnings", ["Time", "By", "Words", "Seen"], user.warnings.map((one) => [when(one.at), one.by, one.text, one.seen_at ? when(one.seen_at) : "Not yet"]), "")) : null,
      panel("Matches", table("Matches", ["Match", "Partner", "Paired", "Result"], user.matches.map((one) => [one.match_id, userLink(one.partner), when(one.paired_at), one.outcome ? OUTCOMES[one.outcome] ?? one.outcome : one.cancelled_for ? `Cancelled: ${one.cancelled_for.replaceAll("_", " ")}` : "Open"]), "None.")),
      user.dates.length ? panel("Dates", table("Dates", ["Date", "Partner", "Started", "Ended"], user.dates.map((one) => [one.date_id, userLink(one.partner), when(one.started_at), one.ended_at ? [when(one.ended_at), ` ${(one.ended_for ?? "").replaceAll("_", " ")}`] : "Open"]), "")) : null,
      user.offers.length ? panel("Offers", table("Offers", ["Day", "Candidate", "Answered"], user.offers.map((one) => [one.date, userLink(one.candidate), one.answered ? "Yes" : "No"]), "")) : null,
      user.connections.length ? panel("Connections", table("Connections", ["Connection", "Partner", "Opened"], user.connections.map((one) => [one.connection_id, userLink(one.partner), when(one.opened_at)]), "")) : null,
      user.audit.length ? panel("What operators did", table("Actions", ["Time", "Operator", "Action", "Detail"], user.audit.map((one) => [when(one.at), one.who, actionWords(one.action), one.detail || "–"]), "")) : null);
  }

  load();
  return {
    title: id,
    root: h("div", { class: "sections" }, h("p", {}, h("a", { href: "#users" }, "← All users")), heading(id), place),
    leave() { gone = true; },
  };
}
