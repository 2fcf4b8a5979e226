// Open matches, live: why each was made, and the action to end one.

import { button, h, heading } from "/app/dom.js";
import { open } from "/app/dialogs.js";
import { confirm, facts, fill, label, table, userLink, when } from "../parts.js";
import { OUTCOMES, TIERS, seconds } from "../words.js";

const PAGE = 100;
const STATUSES = { matched: "Not acknowledged by both", voting: "Voting", completed: "Completed", cancelled: "Cancelled" };

/** Show why a match was made. */
async function explain(app, match_id) {
  const found = await app.call("GET", `/api/admin/matches/${encodeURIComponent(match_id)}`);
  if (!found) return;
  const side = (one) => h("section", { class: "person" },
    h("p", {}, h("strong", {}, one.card?.display_name ?? one.user_id), one.card ? ` ${one.card.age}, ${one.card.gender}` : ""),
    facts([["User", one.user_id], ["Group", one.group], ["Waited", one.waited_s === null ? null : seconds(one.waited_s)], ["Limits", one.tier === null ? null : TIERS[one.tier]]]));
  const result = found.outcome ? OUTCOMES[found.outcome] ?? found.outcome : found.cancelled_for ? `cancelled: ${found.cancelled_for.replaceAll("_", " ")}` : STATUSES[found.status];
  const dialog = open(`Match ${match_id}`, [
    h("div", { class: "two-people" }, found.sides.map(side)),
    facts([["State", result], ["Paired", when(found.paired_at)], ["Policy", found.policy], ["Shown distance", found.distance_km === null ? null : `up to ${found.distance_km} km`], ["Fit", found.preference_match === null ? null : found.preference_match.toLocaleString(undefined, { maximumFractionDigits: 2 })]]),
    h("p", { class: "hint" }, "Of all users who could be paired, the policy takes the one who has waited longest, then the best fit. Limits show how far each user's own limits had widened: exact, wider, widest, anyone."),
  ], [button("Close", () => dialog.close())]);
}

/** @param {any} app */
export function matchesView(app) {
  const place = h("div", { class: "sections" }, h("p", { class: "empty" }, "Loading…"));
  const lead = h("p", { class: "lead", role: "status" });
  let gone = false;
  let busy = false;

  async function load() {
    if (busy) return;
    busy = true;
    const found = await app.call("GET", `/api/admin/matches?limit=${PAGE}`);
    busy = false;
    if (!found || gone) return;
    const text = found.open === 0 ? "No open matches." : `${found.open.toLocaleString()} open ${found.open === 1 ? "match" : "matches"}${found.open > PAGE ? `, the newest ${PAGE} are shown` : ""}.`;
    if (lead.textContent !== text) lead.textContent = text;
    fill(place, table("Open matches", ["Match", "Users", "State", "Paired", "Closes", ""],
      found.matches.map((one) => [
        one.match_id, one.users.map((user, index) => [index ? " and " : "", userLink(user)]), label(STATUSES[one.status] ?? one.status, one.status === "voting" ? "busy" : ""), when(one.paired_at), when(one.closes_at),
        h("div", { class: "actions" },
          button("Explain", () => explain(app, one.match_id), "small", { "aria-label": `Explain match ${one.match_id}` }),
          app.may("moderator") ? button("End", () => end(one), "small danger", { "aria-label": `End match ${one.match_id}` }) : null),
      ]), "No open matches."));
  }

  async function end({ match_id, users }) {
    const reason = await confirm({ title: `End match ${match_id}?`, text: `${users.join(" and ")} are told that the partner left, and wait again. No user is told of you.`, act: "End match", ask: "Reason (for the audit log)" });
    if (!reason || !(await app.call("POST", `/api/admin/matches/${encodeURIComponent(match_id)}/end`, { reason }))) return;
    await load();
    app.notify(`Match ${match_id} is ended.`);
  }

  load();
  return {
    title: "Matches",
    root: h("div", { class: "sections" }, heading("Matches"), lead, place, h("p", { class: "hint" }, "Votes are sealed, from operators too.")),
    // With every status, but not while the operator uses the table.
    update() { if (!place.contains(document.activeElement) && !document.querySelector("dialog[open]")) load(); },
    leave() { gone = true; },
  };
}
