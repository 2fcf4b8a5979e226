// Everything the server can say, in words a person would use.

import { BAD_TOKEN, REPLACED } from "/yoked.js";

export const TIERS = {
  1: "Looking for exactly what you asked for.",
  2: "Looking a little wider than you asked, in age and distance.",
  3: "Looking wider still, in age and distance.",
  99: "Looking at everybody you could meet, whatever their age and distance.",
};

const WAITING = {
  resumed: "Welcome back. You have kept your place in line.",
};

const IDLE = {
  left: "You have left the line. Come back whenever you like.",
  lost: "We could not hear from you for a while, so we took you out of line. Spin again when you are ready.",
  not_acknowledged: "Somebody was here for you, but this page was not on your screen in time. Spin again when you are ready.",
  idle_vote: "The time to vote ran out, so you are out of line. Spin again when you are ready.",
  date: "",
};

const DATE_ENDED = {
  ended: "You ended the date. We hope it was a good one.",
  partner_ended: "They said goodbye, and the date is over. We hope it was a good one.",
  partner_lost: "Their connection was lost, so the date is over. It was nothing you did.",
  time_up: "Time is up, and the date is over. We hope it flew by.",
};

const CANCELLED = {
  partner_left: "They had to go before you could decide.",
  partner_lost: "Their connection was lost before you could decide.",
  not_acknowledged: "The two of you did not get there at the same time.",
  blocked: "The meeting is over, and you will not meet them again.",
  server_restart: "The server was restarted in the middle of it. That was our fault, and costs you nothing.",
};

/** For one who left a meeting, by where they went from there; `idle` has words of its own. */
const LEFT = {
  waiting: "You have left the meeting. On to somebody new.",
};

/** The story of an outcome, from the side of one who cast `mine`. */
function outcomeStory({ outcome, next, credit }, mine) {
  const bonus = credit > 0 ? ` Your yes has moved you up the line: ${credit} credit.` : "";
  if (outcome === "both_yes") return "You both said yes!";
  if (outcome === "idle_idle") return "Neither of you voted in time. Spin again when you are ready.";
  if (next === "idle") return IDLE.idle_vote;
  if (outcome === "pass_pass") return "You both passed. On to somebody new.";
  if (outcome === "yes_pass") return mine === "pass" ? "You passed. On to somebody new." : `It was not mutual this time.${bonus}`;
  if (outcome === "yes_idle") return `They did not answer in time.${bonus}`;
  return "You passed, and they did not answer. On to somebody new.";
}

/**
 * What an event means to the one it is sent to; empty when it needs no words.
 * @param {any} event
 * @param {string|null} mine what this person voted last, if this page knows
 */
export function storyOf(event, mine) {
  switch (event.type) {
    // What led back into line was told a moment before, and one who has just spun sees the line.
    case "waiting": return WAITING[event.reason] ?? "";
    case "idle": return event.reason === "idle_vote" ? "" : IDLE[event.reason] ?? "";
    case "tier": return TIERS[event.tier] ?? "";
    case "matched": return `Here is ${event.partner.display_name}.`;
    case "voting": return "You are both here. Would you like to meet? Yes or pass.";
    case "outcome": return event.reason === "you_left" ? LEFT[event.next] ?? "" : outcomeStory(event, mine);
    case "match_cancelled": return event.reason === "you_left" ? LEFT[event.next] ?? "" : `${CANCELLED[event.reason] ?? "The meeting is over."}${event.next === "waiting" ? " You have kept your old place in line." : ""}`;
    case "date_started": return `You are on a video date with ${event.partner.display_name}.`;
    case "date_ended": return DATE_ENDED[event.reason] ?? "The date is over.";
    case "nudge": return "Somebody who would suit you is waiting right now. Spin, and you may meet.";
    case "offers": return "Your offers of the day are here.";
    case "connection": return `You and ${event.partner.display_name} have both said yes. You are connected.`;
    case "draining": return "The server is about to be restarted. You will be back in a moment, in the same place.";
    default: return "";
  }
}

const REFUSALS = {
  profile_incomplete: "Fill in your profile first.",
  on_a_date: "You are on a video date. End it first.",
  already_voted: "You have voted already, and the first vote counts.",
  vote_closed: "The time to vote is over.",
  unknown_match: "That meeting is over.",
  wrong_state: "That is not possible right now.",
  rate_limited: "That was a bit fast. Try again in a moment.",
  draining: "The server is being restarted. Try again in a moment.",
  unauthorized: "Your sign-in is no longer good. Sign in again.",
  unreachable: "The server cannot be reached. Check your connection and try again.",
  connection_lost: "The connection was lost. Try again in a moment.",
  timeout: "The server did not answer in time. Try again in a moment.",
  internal: "Something went wrong on our side. Try again in a moment.",
};

/** A refusal in words. @param {any} error */
export function refusal(error) {
  const detail = String(error?.message ?? "");
  return REFUSALS[error?.code] ?? (detail ? `${detail[0].toUpperCase()}${detail.slice(1)}.`.replace(/\.\.$/, ".") : REFUSALS.internal);
}

/** Why the connection is closed for good. @param {number} code */
export function farewell(code) {
  if (code === REPLACED) return "You have opened this in another window, and that one speaks for you now.";
  if (code === BAD_TOKEN) return "Your sign-in is no longer good. Sign in again.";
  return "The connection is closed.";
}

/** What a suspended person is told. @param {{reason: string, until: string|null}} told */
export function suspension({ reason, until }) {
  const end = until ? ` until ${new Date(until).toLocaleString([], { dateStyle: "long", timeStyle: "short" })}` : "";
  return `You are suspended${end}. The reason: ${reason}`;
}

const people = (count) => (count === 1 ? "1 person" : `${count} people`);

/**
 * An explanation of the wait, sentence by sentence.
 * @param {any} told the reply to `explain`
 */
export function explanation({ pool, rejected_by, nearest }) {
  if (pool === 0) return ["Nobody else is in line right now. You will be introduced the moment somebody who suits you spins."];
  const lines = [pool === 1 ? "One other person is in line." : `${pool} other people are in line.`];
  const reasons = [
    [rejected_by.seeking, (n) => `${people(n)} and you are not looking for each other.`],
    [rejected_by.history, (n) => `${people(n)} you have met before, or are kept apart from.`],
    [rejected_by.age, (n) => `${people(n)} ${n === 1 ? "is" : "are"} outside the ages that you or they asked for.`],
    [rejected_by.distance, (n) => `${people(n)} ${n === 1 ? "is" : "are"} further away than you or they asked for.`],
  ];
  for (const [count, say] of reasons) if (count > 0) lines.push(say(count));
  if (nearest) {
    const change = nearest.unit === "years" ? `${nearest.by} more ${nearest.by === 1 ? "year" : "years"} of age` : `${nearest.by} km more`;
    lines.push(`With ${change}, you could meet ${nearest.gives === 1 ? "one of them" : `${nearest.gives} of them`}.`);
  }
  return lines;
}

/** A gender as it is shown. @param {string} gender */
export const genderName = (gender) => (gender === "nonbinary" ? "non-binary" : gender.replaceAll("_", " "));

/** Many of a gender. @param {string} gender */
export const genderPlural = (gender) => ({ woman: "Women", man: "Men", nonbinary: "Non-binary people" })[gender] ?? genderName(gender);
