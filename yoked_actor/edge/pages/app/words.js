// Texts for what the server reports.

export const TIERS = {
  1: "Looking for exactly what you asked for.",
  2: "Looking slightly beyond your age and distance limits.",
  3: "Looking further beyond your age and distance limits.",
  99: "Looking for anyone you could meet, at any age and distance.",
};

const WAITING = {
  resumed: "Welcome back. You kept your place in line.",
};

const IDLE = {
  left: "You left the line. Come back any time.",
  lost: "We lost contact with you, so you're no longer in line. Spin again when you're ready.",
  not_acknowledged: "We found someone for you, but this page wasn't on your screen in time. Spin again when you're ready.",
  idle_vote: "You didn't vote in time, so you're no longer in line. Spin again when you're ready.",
  date: "",
};

const DATE_ENDED = {
  ended: "You ended the date. We hope it was a good one.",
  partner_ended: "They ended the date. We hope it was a good one.",
  partner_lost: "Their connection was lost, so the date is over.",
  time_up: "Time's up, and the date is over. We hope it was a good one.",
};

const CANCELLED = {
  partner_left: "They left before you could decide.",
  partner_lost: "Their connection was lost before you could decide.",
  not_acknowledged: "You two weren't here at the same time.",
  blocked: "This match is over. You won't be matched again.",
  server_restart: "The server restarted during your match. Sorry about that!",
};

/** For a user who left a match, by the next state; leaving to `idle` has its own event. */
const LEFT = {
  waiting: "You left the match. Looking for someone new.",
};

/** The notice about an outcome, for a user who voted `vote`. */
function outcomeNotice({ outcome, next, credit }, vote) {
  const bonus = credit > 0 ? ` Your yes moved you up the line: you have ${credit} credit.` : "";
  if (outcome === "both_yes") return "You both said yes!";
  if (outcome === "idle_idle") return "Neither of you voted in time. Spin again when you're ready.";
  if (next === "idle") return IDLE.idle_vote;
  if (outcome === "pass_pass") return "You both passed. Looking for someone new.";
  if (outcome === "yes_pass") return vote === "pass" ? "You passed. Looking for someone new." : `It wasn't mutual this time.${bonus}`;
  if (outcome === "yes_idle") return `They didn't vote in time.${bonus}`;
  return "You passed, and they didn't vote. Looking for someone new.";
}

const CALL_ENDED = {
  declined: "The call was declined.",
  missed: "Nobody answered the call.",
  cancelled: "The call was cancelled.",
  busy: "The other person is busy right now.",
  lost: "The call was lost.",
};

/**
 * The notice about an event; empty if it needs none.
 * @param {any} event
 * @param {string|null} vote the last vote of this user, if this page knows it
 */
export function noticeFor(event, vote) {
  switch (event.type) {
    // The event before explained why the user is in line again, and a user who spins sees the line.
    case "waiting": return WAITING[event.reason] ?? "";
    case "idle": return event.reason === "idle_vote" ? "" : IDLE[event.reason] ?? "";
    case "tier": return TIERS[event.tier] ?? "";
    case "matched": return `Meet ${event.partner.display_name}.`;
    case "voting": return "You're both here. Yes or pass?";
    case "outcome": return event.reason === "you_left" ? LEFT[event.next] ?? "" : outcomeNotice(event, vote);
    case "match_cancelled": return event.reason === "you_left" ? LEFT[event.next] ?? "" : `${CANCELLED[event.reason] ?? "The match is over."}${event.next === "waiting" ? " You kept your place in line." : ""}`;
    case "call": return `${event.partner.display_name} is calling.`;
    case "call_ended": return CALL_ENDED[event.reason] ?? "";
    case "date_started": return `You're on a video date with ${event.partner.display_name}.`;
    case "date_ended": return DATE_ENDED[event.reason] ?? "The date is over.";
    case "nudge": return "Someone you might like is waiting right now. Spin for a chance to meet.";
    case "offers": return "Today's offers are here.";
    case "connection": return `You and ${event.partner.display_name} both said yes. You're connected.`;
    case "draining": return "The server is about to restart. You'll be back in a moment, right where you were.";
    default: return "";
  }
}

const REFUSALS = {
  profile_incomplete: "Complete your profile first.",
  on_a_date: "You're on a video date. End it first.",
  already_voted: "You've already voted, and your first vote counts.",
  vote_closed: "Voting is over.",
  unknown_match: "That match is over.",
  wrong_state: "You can't do that right now.",
  rate_limited: "That was too fast. Try again in a moment.",
  draining: "The server is restarting. Try again in a moment.",
  unauthorized: "Your sign-in is no longer valid. Please sign in again.",
  unreachable: "Can't reach the server. Check your connection and try again.",
  connection_lost: "The connection was lost. Try again in a moment.",
  timeout: "The server didn't respond in time. Try again in a moment.",
  internal: "Something went wrong on our side. Try again in a moment.",
};

export const SIGN_IN_AGAIN = REFUSALS.unauthorized;

/** Why the server refused a call, as a text. @param {any} error */
export function refusal(error) {
  const detail = String(error?.message ?? "");
  return REFUSALS[error?.code] ?? (detail ? `${detail[0].toUpperCase()}${detail.slice(1)}.`.replace(/\.\.$/, ".") : REFUSALS.internal);
}

/** The notice for a suspended user. @param {{reason: string, until: string|null}} suspended */
export function suspension({ reason, until }) {
  const end = until ? ` until ${new Date(until).toLocaleString([], { dateStyle: "long", timeStyle: "short" })}` : "";
  return `Your account is suspended${end}. Reason: ${reason}`;
}

const people = (count) => (count === 1 ? "1 person" : `${count} people`);

/**
 * Why there is no match yet, as a list of sentences.
 * @param {any} reply the reply to `explain`
 */
export function explanation({ pool, rejected_by, nearest }) {
  if (pool === 0) return ["No one else is in line right now. We'll introduce you as soon as someone suitable spins."];
  const lines = [pool === 1 ? "1 other person is in line." : `${pool} other people are in line.`];
  const reasons = [
    [rejected_by.seeking, (n) => `${people(n)} and you aren't looking for each other.`],
    [rejected_by.history, (n) => `${people(n)} can't be matched with you, for example because you've already met.`],
    [rejected_by.age, (n) => `${people(n)} ${n === 1 ? "is" : "are"} outside your age range, or you're outside theirs.`],
    [rejected_by.distance, (n) => `${people(n)} ${n === 1 ? "is" : "are"} too far away, for you or for them.`],
  ];
  for (const [count, say] of reasons) if (count > 0) lines.push(say(count));
  if (nearest) {
    const change = nearest.unit === "years" ? `your age range were ${nearest.by} ${nearest.by === 1 ? "year" : "years"} wider` : `you searched ${nearest.by} km further`;
    lines.push(`If ${change}, you could meet ${nearest.gives === 1 ? "one of them" : `${nearest.gives} of them`}.`);
  }
  return lines;
}

/** The name of a gender. @param {string} gender */
export const genderName = (gender) => (gender === "nonbinary" ? "non-binary" : gender.replaceAll("_", " "));

/** The plural of a gender. @param {string} gender */
export const genderPlural = (gender) => ({ woman: "Women", man: "Men", nonbinary: "Non-binary people" })[gender] ?? genderName(gender);
