// Texts for what the server reports.

import { distance, listing, moment } from "./format.js";
import { known, t } from "./texts.js";

/** The notice about an outcome, for a user who voted `vote`. */
function outcomeNotice({ outcome, next, credit }, vote) {
  const bonus = credit > 0 ? ` ${t("outcome.bonus", { credit })}` : "";
  if (outcome === "both_yes") return t("outcome.both_yes");
  if (outcome === "idle_idle") return t("outcome.idle_idle");
  if (next === "idle") return t("notice.idle_vote");
  if (outcome === "pass_pass") return t("outcome.pass_pass");
  if (outcome === "yes_pass") return vote === "pass" ? t("outcome.youPassed") : t("outcome.notMutual") + bonus;
  if (outcome === "yes_idle") return t("outcome.theyIdle") + bonus;
  return t("outcome.passIdle");
}

function cancelNotice({ reason, next }) {
  if (reason === "you_left") return next === "waiting" ? t("cancelled.youLeft") : "";
  const text = known(`cancelled.${reason}`, t("cancelled.over"));
  return next === "waiting" ? `${text} ${t("cancelled.kept")}` : text;
}

/** How wide the search is. @param {number} tier @param {string[]} strict the limits that are never widened */
export function tierText(tier, strict) {
  if (tier === 1 || strict.length === 0) return known(`tier.${tier}`);
  return strict.length > 1 ? t("tier.both") : known(`tier.${tier}.${strict[0]}`);
}

/**
 * The notice about an event; empty if it needs none.
 * @param {any} event
 * @param {string|null} vote the last vote of this user, if this page knows it
 * @param {string[]} strict the limits of this user that are never widened
 */
export function noticeFor(event, vote, strict) {
  const name = event.partner?.display_name ?? "";
  switch (event.type) {
    // The event before explained why the user is in line again, and a user who spins sees the line.
    case "waiting": return event.reason === "resumed" ? t("notice.resumed") : "";
    case "idle": return event.reason === "idle_vote" ? "" : known(`notice.${event.reason}`);
    case "tier": return tierText(event.tier, strict);
    case "matched": return t("notice.matched", { name });
    case "voting": return t("notice.voting");
    case "outcome": return event.reason === "you_left" ? cancelNotice(event) : outcomeNotice(event, vote);
    case "match_cancelled": return cancelNotice(event);
    case "date_started": return t("notice.date", { name });
    case "date_ended": return known(`ended.${event.reason}`, t("ended.over"));
    case "nudge": return t("notice.nudge");
    case "offers": return t("notice.offers");
    case "connection": return t("notice.connection", { name });
    case "draining": return t("notice.draining");
    default: return "";
  }
}

/** How a call ended, for a user who called or was called; empty if a page shows it. @param {string} reason @param {string} name @param {boolean} incoming */
export function callNotice(reason, name, incoming) {
  if (reason === "lost") return t("call.lost");
  if (!incoming) return ["declined", "missed", "busy"].includes(reason) ? t(`call.${reason}`, { name }) : "";
  if (reason === "cancelled") return t("call.cancelledByThem", { name });
  return reason === "missed" ? t("call.missedByMe", { name }) : "";
}

/** The server names a character that a text must not have; not every page shows the name of the field. */
const BAD_CHARACTERS = /must not contain .*\(U\+|combining marks in a row/;

/** How the server refuses a call to a user who is online in another room. */
const IN_OTHER_ROOM = "your partner is in another room";

/** Why the server refused a call, as a text. @param {any} error */
export function refusal(error) {
  const detail = String(error?.message ?? "");
  if (error?.code === "bad_request" && BAD_CHARACTERS.test(detail)) return t("refusal.characters");
  if (error?.code === "wrong_state" && detail.startsWith(IN_OTHER_ROOM)) return t("refusal.otherRoom");
  return known(`refusal.${error?.code}`) || (detail ? `${detail[0].toUpperCase()}${detail.slice(1)}.`.replace(/\.\.$/, ".") : t("refusal.internal"));
}

/** Until when a user is suspended. @param {string|null} until */
export const suspendedUntil = (until) => (until ? t("suspended.until", { time: moment(until) }) : t("suspended.forever"));

/**
 * Why there is no match yet, as a list of sentences.
 * @param {any} reply the reply to `explain`
 */
export function explanation({ pool, rejected_by, nearest, strict }) {
  if (pool === 0) return [t("explain.empty")];
  const lines = [t("explain.pool", { count: pool })];
  for (const reason of ["seeking", "history", "age", "distance"]) {
    const count = rejected_by[reason];
    if (count > 0) lines.push(t(`explain.${reason}`, { count }));
  }
  if (strict?.age > 0) lines.push(t("explain.strictAge", { count: strict.age }));
  if (strict?.distance > 0) lines.push(t("explain.strictDistance", { count: strict.distance }));
  if (nearest) {
    const people = t("explain.gives", { count: nearest.gives });
    lines.push(nearest.unit === "years" ? t("explain.years", { count: nearest.by, people }) : t("explain.further", { distance: distance(nearest.by), people }));
  }
  return lines;
}

/** The interests that a reason names; the rest is counted. */
const NAMED = 3;

/** Why a person is offered, as a list of phrases. The distance is among the facts of the card. @param {{fit: {years_apart: number, shared?: string[], widened?: boolean}}} offer */
export function reasonsFor({ fit: { years_apart, shared = [], widened } }) {
  const named = shared.length > NAMED ? [...shared.slice(0, NAMED), t("offers.more", { count: shared.length - NAMED })] : shared;
  return [
    named.length > 0 && t("offers.shared", { list: listing(named) }),
    years_apart === 0 ? t("offers.sameAge") : t("offers.yearsApart", { count: years_apart }),
    widened && t("offers.widened"),
  ].filter(Boolean);
}

/** The name of a gender. @param {string} gender */
export const genderName = (gender) => known(`gender.${gender}`, gender.replaceAll("_", " "));

/** The plural of a gender. @param {string} gender */
export const genderPlural = (gender) => known(`genders.${gender}`, genderName(gender));
