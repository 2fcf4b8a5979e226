/**
 * yoked.js: a browser client for the yoked-actor protocol. One module, no dependencies.
 *
 *     import { connect } from "/yoked.js";
 *     const client = connect({ url: location.origin, token });
 *     client.addEventListener("matched", ({ detail }) => client.acknowledge(detail.match_id));
 *     await client.spin();
 *
 * The client sends hello and heartbeats, reconnects and resumes its session after the socket is lost,
 * matches replies to commands, and updates `client.snapshot` with each event of the server.
 * See docs/yoked-js.md.
 */

/** @typedef {"idle"|"waiting"|"matched"|"voting"} State */
/** @typedef {{user_id: string, display_name: string, age: number, gender: string, interests: string[], distance_km: number}} Card */
/** @typedef {{match_id: string, partner: Card, acknowledged: boolean, voted: boolean, acknowledge_by?: string, vote_by?: string}} MatchPart */
/** @typedef {{date_id: string, partner: Card, initiator: boolean, ends_at: string, ice_servers: RTCIceServer[]}} DatePart */
/** @typedef {{call_id: string, partner?: Card, ring_until: string, incoming: boolean}} CallPart A call that rings. A snapshot of the server has the partner; after `startDate` the client knows only the connection. */
/** @typedef {{room: string, name: string, description: string, is_open: boolean, opens_at?: string, closes_at?: string, here: number, capacity?: number, needs_code: boolean}} Room A room that is open or announced, and how many users are in it. */
/** @typedef {{state: State, credit: number, room: string, waiting_since?: string, tier?: number, match?: MatchPart, date?: DatePart, call?: CallPart, last_outcome?: string, last_match_id?: string}} Snapshot */
/** @typedef {{type: string, seq: number, at: string, [field: string]: any}} ServerEvent An event of the protocol. `replayed` is true if the snapshot of the last welcome includes it. */
/** @typedef {{match_id: string, partner: Card, at: string, outcome: string, date_id?: string, touch_until?: string, connection_id?: string}} Met A user whom the user has met. With `touch_until`, the user can still say whether to stay in touch. */
/** @typedef {{type: "ok", re: string, [field: string]: any}} Reply */
/** @typedef {"connecting"|"online"|"polling"|"away"|"closed"} Status */
/** @typedef {{name: string, country: string, location: {lat: number, lon: number}, time_zone: string, alias?: string, region?: string, near?: string}} Place */
/** @typedef {{reason: string, until: string|null}} Suspension The reason, and the end; null if it has no set end. */
/** @typedef {{display_name: string, birth_date: string, gender: string, location: {lat: number, lon: number}, time_zone: string, interests: string[], preferences: {seeking: string[], min_age: number, max_age: number, max_distance_km: number, strict?: ("age" | "distance")[]}}} Profile */
/** @typedef {{type: string, fields: Record<string, any>, text: string, resolve: (reply: Reply) => void, reject: (error: Error) => void, timer: ReturnType<typeof setTimeout>, sent_ms: number}} Pending */

const FIRST_PAUSE_S = 0.3;
const LONGEST_PAUSE_S = 8;
// How long a welcome may take; at a node that another one has named, less: it may hang.
const WELCOME_S = 10;
const WELCOME_ELSEWHERE_S = 6;
const TIMEOUT_S = 15;
/** Pause before the next attempt to renew a token. */
const RENEW_AGAIN_S = 10;
/** Pause before a call that has failed is made once more. */
const FETCH_AGAIN_MS = 300;
/** Sockets that may fail to open before the client asks over HTTP instead. */
const FAILED_SOCKETS = 2;
/** Without a socket: how often the client asks for the status, and for the outcome during a vote. */
const STATUS_EVERY_S = 2;
const OUTCOME_EVERY_S = 1;
/** Without a socket: the longest pause before the client tries to open one. The first pause is short, because
 * a server that restarts refuses sockets too, and is back soon. */
const SOCKET_AGAIN_S = 30;
/** Minimum pause before the next attempt, for some close codes. */
const LEAST_PAUSE_S = new Map([[4009, 5], [4010, 2]]);
/** Close codes after which the pending commands must not be sent again. */
const CLIENT_ERRORS = new Set([1003, 1009, 4000]);

/** Another node serves the user's room: the error `moved` before it has its `url`. */
const MOVED = 4011;
/** How many times in a row the client follows `moved`. */
const MOST_HOPS = 5;

/** Why the server does not let a user into the room of their hello. */
const ROOM_REFUSALS = new Set(["unknown_room", "room_closed", "room_full", "wrong_code", "forbidden", "rate_limited"]);
/** The room that always exists. It never closes. */
const MAIN = "main";
/** Without a socket: how often the client asks when its room closes, and how long before its end it says so. */
const ROOM_EVERY_S = 10;
const CLOSING_S = 60;

/** Close codes after which the client does not reconnect. */
export const REPLACED = 4001;
export const BAD_TOKEN = 4003;
/** The close reason for a token that was valid and has expired. */
const EXPIRED = "the token has expired";

/** An error reply of the server, or a command without a reply. */
export class YokedError extends Error {
  /**
   * @param {string} code one of the protocol's codes, or `timeout`, `connection_lost`, `unreachable`
   * @param {string} message
   * @param {number} [status] the HTTP status, if there is one
   * @param {Record<string, any>} [said] the whole response: `suspended` has `reason` and `until`
   */
  constructor(code, message, status, said = {}) {
    super(message);
    this.name = "YokedError";
    this.code = code;
    this.status = status;
    this.said = said;
  }
}

/**
 * A time of the protocol as microseconds since 1970. `Date` would drop the last three digits.
 * @param {string} iso
 */
export function microseconds(iso) {
  const [, fraction = ""] = /\.(\d+)/.exec(iso) ?? [];
  return Date.parse(iso.replace(/\.\d+/, "")) * 1000 + Number(fraction.padEnd(6, "0").slice(0, 6));
}

/**
 * The snapshot after an event. A pure function.
 * @param {Snapshot} snapshot
 * @param {ServerEvent} event
 * @returns {Snapshot}
 */
export function advance(snapshot, event) {
  const { match, waiting_since, tier, ...rest } = snapshot;
  switch (event.type) {
    case "waiting":
      return { ...rest, state: "waiting", waiting_since: event.since };
    case "tier":
      return { ...snapshot, tier: event.tier };
    case "matched": {
      const { match_id, partner, acknowledge_by } = event;
      const same = match && match.match_id === match_id ? match : { acknowledged: false, voted: false };
      return { ...rest, state: "matched", match: { ...same, match_id, partner, acknowledge_by } };
    }
    case "voting": {
      if (!match || match.match_id !== event.match_id) return snapshot;
      const { acknowledge_by, ...seen } = match;
      return { ...rest, state: "voting", match: { ...seen, acknowledged: true, vote_by: event.vote_by } };
    }
    case "outcome": {
      const { next, credit, outcome, match_id } = event;
      const { last_outcome, ...before } = rest;
      const after = { ...before, state: next, credit, last_match_id: match_id };
      return outcome === "cancelled" ? after : { ...after, last_outcome: outcome };
    }
    case "match_cancelled": {
      const { last_outcome, ...before } = rest;
      return { ...before, state: event.next, last_match_id: event.match_id };
    }
    case "idle":
      return { ...rest, state: "idle" };
    case "call": {
      const { call_id, partner, ring_until } = event;
      return { ...snapshot, call: { call_id, partner, ring_until, incoming: true } };
    }
    case "call_ended": {
      const { call, ...callless } = snapshot;
      return call?.call_id === event.call_id ? callless : snapshot;
    }
    case "date_started": {
      const { date_id, partner, initiator, ends_at, ice_servers } = event;
      return { ...snapshot, date: { date_id, partner, initiator, ends_at, ice_servers } };
    }
    case "date_ended": {
      const { date, ...dateless } = snapshot;
      return date?.date_id === event.date_id ? dateless : snapshot;
    }
    default:
      return snapshot;
  }
}

/** Calls that must not be repeated when it is not known whether the first one arrived. */
const NOT_TWICE = /^POST \/api\/(reports|appeal|connections\/)/;

/**
 * Whether a client at one URL may take its token to another: not from TLS to plain text.
 * @param {string} from
 * @param {string} to
 */
function mayFollow(from, to) {
  return /^https?:\/\/[^/?#\s]+$/.test(to) && !(/^https:/.test(from) && /^http:/.test(to));
}

/** HTTP calls for one user. Errors reject with a `YokedError`. */
export class Api {
  /** @param {{url?: string, token?: string}} where */
  constructor({ url = globalThis.location?.origin ?? "", token = "" } = {}) {
    this.url = url.replace(/\/$/, "");
    /** Where calls begin again when the node of `url` is gone. */
    this.home = this.url;
    this.token = token;
  }

  /**
   * Make any call.
   * @param {string} method
   * @param {string} path
   * @param {unknown} [body]
   * @returns {Promise<any>}
   */
  async call(method, path, body) {
    /** @type {Record<string, string>} */
    const headers = { Accept: "application/json" };
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const init = { method, headers, body: body === undefined ? undefined : JSON.stringify(body) };
    let response = await this.#reach(path, init);
    // Another node had to answer (307). The browser went there, but without the token.
    for (let hops = 0; response.redirected && this.#adopt(response.url) && response.status === 401 && hops < MOST_HOPS; hops++) response = await this.#reach(path, init);
    if (response.status === 204) return {};
    const content = await response.json().catch(() => ({}));
    if (!response.ok) throw new YokedError(content.code ?? "internal", content.detail ?? response.statusText, response.status, content);
    return content;
  }

  /** Call the node that has answered from now on; whether it is another one. @param {string} url */
  #adopt(url) {
    const { origin } = new URL(url);
    if (origin === this.url || !mayFollow(this.url, origin)) return false;
    this.url = origin;
    return true;
  }

  /** @param {string} path @param {RequestInit} init */
  async #reach(path, init) {
    const home = this.home;
    return this.#fetch(path, init).catch(async (error) => {
      // A busy network often fails once. What has an effect each time is not sent again.
      if (error.name === "TimeoutError" || NOT_TWICE.test(`${init.method} ${path}`)) throw error;
      await new Promise((resume) => { setTimeout(resume, FETCH_AGAIN_MS); });
      // The node that the call was sent to may be gone: the first one knows its successor.
      this.url = home;
      return this.#fetch(path, init);
    }).catch(() => { throw new YokedError("unreachable", "cannot reach the server"); });
  }

  /** @param {string} path @param {RequestInit} init */
  #fetch(path, init) { return fetch(this.url + path, { ...init, signal: AbortSignal.timeout(TIMEOUT_S * 1000) }); }

  /** Log in on a development server, without a password. Returns the token. @param {string} user_id @param {Profile} [profile] @returns {Promise<string>} */
  async devLogin(user_id, profile) {
    return (await this.call("POST", "/api/dev/login", { user_id, profile })).token;
  }

  /** The user's profile, or null if there is none. @returns {Promise<Profile|null>} */
  async profile() {
    return this.call("GET", "/api/profile").catch((error) => {
      if (error.code === "not_found") return null;
      throw error;
    });
  }

  /** @param {Profile} profile @returns {Promise<Profile>} the stored profile */
  saveProfile(profile) { return this.call("PUT", "/api/profile", profile); }

  /** Places whose names begin with a text, the best first. @param {string} search @returns {Promise<Place[]>} */
  async places(search) { return (await this.call("GET", `/api/places?search=${encodeURIComponent(search)}`)).places; }

  /** The place next to a position. @param {{lat: number, lon: number}} position @returns {Promise<Place>} */
  async placeNear(position) { return (await this.call("POST", "/api/places/near", position)).place; }

  /** The offers of today, or of a date. @param {string} [date] */
  offers(date) { return this.call("GET", `/api/offers${date ? `?date=${encodeURIComponent(date)}` : ""}`); }

  /** @param {string} offer_id @param {"accept"|"decline"} answer */
  answerOffer(offer_id, answer) { return this.call("POST", `/api/offers/${encodeURIComponent(offer_id)}/answer`, { answer }); }

  /** The connections: users who accepted each other. */
  connections() { return this.call("GET", "/api/connections"); }

  /** Call a connection who is online, for a video date. @param {string} connection_id @returns {Promise<{call_id: string, ring_until: string}>} */
  startDate(connection_id) { return this.call("POST", `/api/connections/${encodeURIComponent(connection_id)}/date`); }

  /** Accept a call: the video date opens. @param {string} call_id @returns {Promise<{date_id: string}>} */
  acceptCall(call_id) { return this.call("POST", `/api/calls/${encodeURIComponent(call_id)}/accept`); }

  /** @param {string} call_id */
  declineCall(call_id) { return this.call("POST", `/api/calls/${encodeURIComponent(call_id)}/decline`); }

  /** Stop your own call. @param {string} call_id */
  cancelCall(call_id) { return this.call("POST", `/api/calls/${encodeURIComponent(call_id)}/cancel`); }

  /** Say after a date whether to stay in touch. @param {string} date_id @param {"yes"|"no"} answer @returns {Promise<{connection_id?: string}>} */
  stayInTouch(date_id, answer) { return this.call("POST", `/api/dates/${encodeURIComponent(date_id)}/stay_in_touch`, { answer }); }

  /** The users whom the user has met lately, newest first. @returns {Promise<{met: Met[]}>} */
  met() { return this.call("GET", "/api/met"); }

  /** All data about the user. @returns {Promise<Record<string, any>>} */
  exportData() { return this.call("GET", "/api/me/export"); }

  /** Erase the user. It cannot be undone. */
  erase() { return this.call("DELETE", "/api/me"); }

  /** The rooms that are open or announced, `main` first. @returns {Promise<Room[]>} */
  async rooms() { return (await this.call("GET", "/api/rooms")).rooms; }

  /** Go into another room, while idle. @param {string} room @param {string} [code] the invitation code @returns {Promise<{room: string}>} */
  enterRoom(room, code) { return this.call("POST", `/api/rooms/${encodeURIComponent(room)}/enter`, code === undefined ? undefined : { code }); }

  /** The current snapshot. @returns {Promise<Snapshot>} */
  status() { return this.call("GET", "/api/match/status"); }

  /** @returns {Promise<{blocks: {user_id: string, at: string, display_name: string|null}[]}>} */
  blocks() { return this.call("GET", "/api/blocks"); }

  /** @param {string} user_id */
  block(user_id) { return this.call("POST", "/api/blocks", { user_id }); }

  /** @param {string} user_id */
  unblock(user_id) { return this.call("DELETE", `/api/blocks/${encodeURIComponent(user_id)}`); }

  /** @param {string} user_id @param {string} reason @param {string} [match_id] */
  report(user_id, reason, match_id) { return this.call("POST", "/api/reports", { user_id, reason, match_id }); }

  /** Suspended: ask the operator to look at the suspension again. Once a day. @param {string} text */
  appeal(text) { return this.call("POST", "/api/appeal", { text }); }

  /** The warnings that the user has not seen yet, the oldest first. @returns {Promise<{warnings: {warning_id: string, text: string, given_at: string}[]}>} */
  warnings() { return this.call("GET", "/api/warnings"); }

  /** Say that a warning was seen; it is not sent again. @param {string} warning_id */
  warningSeen(warning_id) { return this.call("POST", `/api/warnings/${encodeURIComponent(warning_id)}/seen`); }
}

/** The HTTP calls of the commands, for a client without a socket. @type {Record<string, ["GET"|"POST", string]>} */
const CALLS = {
  spin: ["POST", "/api/spin"],
  leave: ["POST", "/api/leave"],
  acknowledge: ["POST", "/api/match/acknowledge"],
  vote: ["POST", "/api/vote"],
  explain: ["GET", "/api/explain"],
  end_date: ["POST", "/api/date/end"],
  answer_offer: ["POST", "/api/offers/{offer_id}/answer"],
  start_date: ["POST", "/api/connections/{connection_id}/date"],
  accept_call: ["POST", "/api/calls/{call_id}/accept"],
  decline_call: ["POST", "/api/calls/{call_id}/decline"],
  cancel_call: ["POST", "/api/calls/{call_id}/cancel"],
  stay_in_touch: ["POST", "/api/dates/{date_id}/stay_in_touch"],
  block: ["POST", "/api/blocks"],
  report: ["POST", "/api/reports"],
  enter_room: ["POST", "/api/rooms/{room}/enter"],
  heartbeat: ["POST", "/api/heartbeat"],
};

/**
 * The events that two snapshots tell of. What happened in between and left no trace is not among them.
 * @param {Snapshot} before
 * @param {Snapshot} after
 * @returns {any[]}
 */
export function eventsBetween(before, after) {
  const events = [];
  const { match, date, credit, state: next } = after;
  if (before.match && after.last_match_id === before.match.match_id && before.last_match_id !== after.last_match_id) {
    const { match_id } = before.match;
    events.push(after.last_outcome ? { type: "outcome", match_id, outcome: after.last_outcome, next, credit } : { type: "match_cancelled", match_id, reason: "", next });
  }
  if (before.date && !date) events.push({ type: "date_ended", date_id: before.date.date_id, reason: "" });
  if (date && date.date_id !== before.date?.date_id) events.push({ type: "date_started", ...date });
  if (match && match.match_id !== before.match?.match_id) events.push({ type: "matched", ...match });
  if (next === "voting" && (before.state !== "voting" || match?.match_id !== before.match?.match_id)) events.push({ type: "voting", match_id: match?.match_id, vote_by: match?.vote_by });
  return events;
}

/** The address of the WebSocket of a node. @param {string} url */
function socketUrl(url) {
  return `${url.replace(/\/$/, "").replace(/^http/, "ws")}/ws`;
}

/**
 * A live connection for one user. An `EventTarget`: each event of the protocol, including `welcome`, is
 * dispatched as a `CustomEvent` of its type with the message as `detail`. Other events are `change` (the
 * snapshot has changed) and `status` (`{status, code, reason, retry_in_s, suspended}`).
 */
export class Client extends EventTarget {
  /** @type {WebSocket|null} */ #socket = null;
  /** @type {Map<string, Pending>} */ #pending = new Map();
  /** @type {{session: string, seq: number}|null} */ #resume = null;
  /** @type {ReturnType<typeof setTimeout>|undefined} */ #timer;
  /** @type {ReturnType<typeof setInterval>|undefined} */ #heartbeats;
  /** @type {ReturnType<typeof setTimeout>|undefined} */ #renewal;
  /** @type {ReturnType<typeof setTimeout>|undefined} */ #polls;
  /** How many sockets in a row were closed before they opened. */
  #failed_sockets = 0;
  /** Where `moved` sends the client. */
  #moved_to = "";
  #hops = 0;
  #most_hops = MOST_HOPS;
  /** When the token expires, in milliseconds of server time. */
  #expires_ms = Infinity;
  #tried_renewal = false;
  #ended_call = "";
  /** The room to enter with the first hello. @type {{room: string, code?: string}|null} */
  #wanted = null;
  /** The ID of the last hello. */
  #hello_id = "";
  /** Without a socket: what the client knows about its room, and when it asked. @type {{room: string, has_closed: boolean, told: string, asked_ms: number}|null} */
  #room = null;
  #count = 0;
  #welcomed_at = 0;
  #received_ms = 0;
  #hello_ms = 0;
  #pause_s = FIRST_PAUSE_S;
  #least_s = 0;
  /** @type {{rtt: number, offset: number}[]} */ #samples = [];
  // Command IDs are unique within the session, which may exist longer than this object.
  #prefix = Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(36)).join("");

  /** @param {{url?: string, token: string, room?: string, code?: string, renewToken?: () => Promise<string>, timeout_s?: number, hops?: number}} options */
  constructor({ url = globalThis.location?.origin ?? "", token, room, code, renewToken, timeout_s = TIMEOUT_S, hops = MOST_HOPS }) {
    super();
    this.#wanted = room === undefined ? null : code === undefined ? { room } : { room, code };
    this.#most_hops = hops;
    /** HTTP calls for the same user. */
    this.api = new Api({ url, token });
    this.url = socketUrl(url);
    this.token = token;
    this.renewToken = renewToken;
    this.timeout_s = timeout_s;
    /** @type {Status} */
    this.status = "connecting";
    /** The state of the user on the server; null before the first welcome. @type {Snapshot|null} */
    this.snapshot = null;
    /** Set when the server reports that the user is suspended; the client is closed then. @type {Suspension|null} */
    this.suspended = null;
    /** Set when the server does not let the user into the room of `connect`; the client is closed then. @type {YokedError|null} */
    this.refused = null;
    this.heartbeat_every_s = 3;
    this.#open();
    globalThis.addEventListener?.("online", this.#wake);
    globalThis.addEventListener?.("offline", this.#sleep);
    globalThis.document?.addEventListener("visibilitychange", this.#wake);
  }

  /** Whether commands reach the server now: over the socket, or over HTTP when there can be no socket. */
  get isLive() { return this.status === "online" || this.status === "polling"; }

  /** The ID of the room that the user is in; null before the first welcome. @returns {string|null} */
  get room() { return this.snapshot?.room ?? null; }

  /** The rooms that are open or announced, `main` first. */
  rooms() { return this.api.rooms(); }

  // Commands. Each resolves with the reply `ok`, or rejects with a YokedError.

  /** Get in line for a match. */
  spin() { return this.command("spin"); }
  /** Leave the line, or the match. */
  leave() { return this.command("leave"); }
  /** Confirm that the match is on the screen. @param {string} match_id */
  acknowledge(match_id) { return this.command("acknowledge", { match_id }); }
  /** @param {string} match_id @param {"yes"|"pass"} vote */
  vote(match_id, vote) { return this.command("vote", { match_id, vote }); }
  /** Ask why there is no match yet. */
  explain() { return this.command("explain"); }
  /** Send data to the partner on the date. @param {string} date_id @param {unknown} data */
  signal(date_id, data) { return this.command("signal", { date_id, data }); }
  /** @param {string} date_id */
  endDate(date_id) { return this.command("end_date", { date_id }); }
  /** @param {string} offer_id @param {"accept"|"decline"} answer */
  answerOffer(offer_id, answer) { return this.command("answer_offer", { offer_id, answer }); }
  /** Call a connection who is online, for a video date: `call_id`, `ring_until`. @param {string} connection_id */
  startDate(connection_id) { return this.command("start_date", { connection_id }); }
  /** Accept a call: the video date opens. @param {string} call_id */
  acceptCall(call_id) { return this.command("accept_call", { call_id }); }
  /** @param {string} call_id */
  declineCall(call_id) { return this.command("decline_call", { call_id }); }
  /** Stop your own call. @param {string} call_id */
  cancelCall(call_id) { return this.command("cancel_call", { call_id }); }
  /** Say after a date whether to stay in touch. @param {string} date_id @param {"yes"|"no"} answer */
  stayInTouch(date_id, answer) { return this.command("stay_in_touch", { date_id, answer }); }
  /** Go into another room, while idle. @param {string} room @param {string} [code] the invitation code, if the room needs one */
  enterRoom(room, code) { return this.command("enter_room", code === undefined ? { room } : { room, code }); }
  /** Never be matched with that user (again). @param {string} user_id */
  block(user_id) { return this.command("block", { user_id }); }
  /** @param {string} user_id @param {string} reason @param {string} [match_id] */
  report(user_id, reason, match_id) { return this.command("report", { user_id, reason, match_id }); }
  /** The client sends heartbeats itself. */
  heartbeat() { return this.command("heartbeat"); }

  /**
   * Send any command. While the socket is lost, the command waits. After the session is resumed it is
   * sent again with the same ID, which has no second effect. If the session is gone, it rejects.
   * @param {string} type
   * @param {Record<string, any>} [fields]
   * @returns {Promise<Reply>}
   */
  command(type, fields = {}) {
    if (this.status === "closed") return Promise.reject(this.#closedError());
    if (this.status === "polling") return this.#callInstead(type, fields);
    const id = `${this.#prefix}-${++this.#count}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new YokedError("timeout", "the server did not reply in time"));
      }, this.timeout_s * 1000);
      const pending = { type, fields, text: JSON.stringify({ type, id, ...fields }), resolve, reject, timer, sent_ms: 0 };
      this.#pending.set(id, pending);
      if (this.status === "online") this.#send(pending);
    });
  }

  /** The estimated server time, in milliseconds since 1970. */
  now() {
    if (this.#samples.length === 0) return Date.now();
    const best = this.#samples.reduce((a, b) => (b.rtt < a.rtt ? b : a));
    return Date.now() + best.offset;
  }

  /** Resolves at the first welcome; rejects if the client is closed before. @returns {Promise<Snapshot>} */
  welcomed() {
    return new Promise((resolve, reject) => {
      const check = () => {
        if (this.snapshot) resolve(this.snapshot);
        else if (this.status === "closed") reject(this.#closedError());
        else return false;
        this.removeEventListener("status", check);
        return true;
      };
      if (!check()) this.addEventListener("status", check);
    });
  }

  #closedError() { return this.refused ?? new YokedError("connection_lost", "the connection is closed"); }

  /** Close the connection for good. */
  close() { this.#finish(1000, "closed by the client"); }

  // The connection

  #open() {
    clearTimeout(this.#timer);
    const socket = new WebSocket(this.url, "yoked.v1");
    this.#socket = socket;
    this.#received_ms = Date.now();
    let opened = false;
    socket.onopen = () => {
      opened = true;
      this.#failed_sockets = 0;
      this.#hello_ms = Date.now();
      const resume = this.#resume ?? undefined;
      this.#hello_id = `${this.#prefix}-${++this.#count}`;
      socket.send(JSON.stringify({ type: "hello", id: this.#hello_id, token: this.token, resume, ...this.#wanted }));
    };
    socket.onmessage = ({ data }) => { if (socket === this.#socket) this.#receive(JSON.parse(data)); };
    socket.onclose = ({ code, reason }) => {
      if (socket !== this.#socket) return;
      if (!opened) this.#failed_sockets++;
      this.#lost(code, reason);
    };
    // Without a response from the network, the browser itself would wait for minutes.
    this.#timer = setTimeout(() => {
      if (this.status === "online") return;
      if (!opened) this.#failed_sockets++;
      this.#abandon("no welcome in time");
    }, (this.api.url === this.api.home ? WELCOME_S : WELCOME_ELSEWHERE_S) * 1000);
  }

  /** Open a new socket, with a new token if the current one has expired. */
  async #reconnect() {
    clearTimeout(this.#timer);
    if (this.renewToken && this.now() >= this.#expires_ms) {
      try {
        this.#useToken(await this.renewToken());
      } catch {
        if (this.status === "away") this.#timer = setTimeout(() => this.#reconnect(), RENEW_AGAIN_S * 1000);
        return;
      }
    }
    if (this.status === "away" && this.#socket === null) this.#open();
  }

  /** @param {string} token */
  #useToken(token) {
    this.token = token;
    this.api.token = token;
    this.#expires_ms = Infinity;
  }

  /** Renew the token before it expires. @param {string} expires_at */
  #renewBefore(expires_at) {
    clearTimeout(this.#renewal);
    this.#expires_ms = Date.parse(expires_at);
    const left_s = (this.#expires_ms - this.now()) / 1000;
    this.#renewIn(left_s - Math.min(60, 0.2 * left_s));
  }

  /** @param {number} seconds */
  #renewIn(seconds) {
    if (!this.renewToken) return;
    // Timers are limited to 24 days. Renewing earlier does no harm.
    this.#renewal = setTimeout(() => this.#renew(), Math.min(Math.max(seconds, 0) * 1000, 2 ** 31 - 1));
  }

  async #renew() {
    const socket = this.#socket;
    try {
      const token = await this.renewToken?.();
      if (!token || socket !== this.#socket || this.status !== "online") return;
      const { expires_at } = await this.command("hello", { token });
      this.#useToken(token);
      this.#renewBefore(expires_at);
    } catch {
      if (socket === this.#socket && this.status === "online") this.#renewIn(RENEW_AGAIN_S);
    }
  }

  /** @param {string} reason */
  #abandon(reason) {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.#lost(1006, reason);
  }

  /** Speak to this node from now on. @param {string} url */
  #goTo(url) {
    this.url = socketUrl(url);
    this.api.url = url;
  }

  /** @param {number} code @param {string} reason */
  #lost(code, reason) {
    clearInterval(this.#heartbeats);
    clearTimeout(this.#timer);
    this.#socket = null;
    clearTimeout(this.#renewal);
    const moved_to = this.#moved_to;
    this.#moved_to = "";
    if (code === MOVED && this.#hops < this.#most_hops && mayFollow(this.api.home, moved_to)) {
      this.#hops++;
      this.#goTo(moved_to);
      this.#setStatus("away", { code, reason, retry_in_s: 0 });
      this.#reconnect();
      return;
    }
    // The node has not welcomed this client: begin again where it was first sent to.
    if (this.status !== "online") this.#goTo(this.api.home);
    this.#hops = 0;
    if (code === BAD_TOKEN && reason === EXPIRED && this.renewToken && !this.#tried_renewal) {
      this.#tried_renewal = true;
      this.#expires_ms = 0;
    } else if (code === REPLACED || code === BAD_TOKEN) return this.#finish(code, reason);
    if (this.status === "polling") return this.#trySocketLater();
    if (this.#failed_sockets >= FAILED_SOCKETS) this.#poll();
    if (CLIENT_ERRORS.has(code)) this.#rejectAll("connection_lost", reason || "the connection was closed");
    const least_s = this.#least_s || (LEAST_PAUSE_S.get(code) ?? 0);
    const retry_in_s = least_s + this.#nextPause(LONGEST_PAUSE_S);
    this.#least_s = 0;
    this.#timer = setTimeout(() => this.#reconnect(), retry_in_s * 1000);
    this.#setStatus("away", { code, reason, retry_in_s });
  }

  /** @param {number} code @param {string} reason */
  #finish(code, reason) {
    if (this.status === "closed") return;
    clearTimeout(this.#renewal);
    clearInterval(this.#heartbeats);
    clearTimeout(this.#timer);
    clearTimeout(this.#polls);
    globalThis.removeEventListener?.("online", this.#wake);
    globalThis.removeEventListener?.("offline", this.#sleep);
    globalThis.document?.removeEventListener("visibilitychange", this.#wake);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.#setStatus("closed", { code, reason, suspended: this.suspended, refused: this.refused });
    this.#rejectAll(this.suspended ? "suspended" : this.refused ? this.refused.code : "connection_lost", reason || "the connection is closed");
  }

  // The network is back, or the page is visible again: do not wait for the next heartbeat or attempt.
  #wake = () => {
    if (globalThis.document?.visibilityState === "hidden") return;
    if (this.status === "online") this.#sendHeartbeat();
    else if (this.status === "away" && this.#socket === null) this.#reconnect();
    else if (this.status === "polling" && this.#socket === null) this.#open();
  };

  // The device has no network: say so now, not when a heartbeat is missed.
  #sleep = () => { if (this.status === "online") this.#abandon("offline"); };

  // Without a socket

  /** Ask for the status over HTTP, again and again, until a socket opens or the client is closed. @returns {Promise<void>} */
  async #poll() {
    clearTimeout(this.#polls);
    const isOver = () => this.status === "online" || this.status === "closed";
    if (isOver()) return;
    const sent_ms = Date.now();
    try {
      await this.#enterWanted();
      const snapshot = await this.api.status();
      if (isOver()) return;
      this.#tried_renewal = false;
      this.#receiveStatus(snapshot, sent_ms);
    } catch (error) {
      const { code, said } = /** @type {YokedError} */ (error);
      if (code === "suspended") this.suspended = { reason: said.reason, until: said.until };
      if (code === "unauthorized" && this.renewToken && !this.#tried_renewal) {
        this.#tried_renewal = true;
        const token = await this.renewToken().catch(() => null);
        if (token) this.#useToken(token);
        if (token && !isOver()) return this.#poll();
      }
      if (this.#wanted && ROOM_REFUSALS.has(code) && !isOver()) return this.#refuse(/** @type {YokedError} */ (error));
      if (code === "suspended" || code === "unauthorized") return this.#finish(BAD_TOKEN, String(/** @type {Error} */ (error).message));
      // Not the socket alone: the server cannot be reached at all.
      if (this.status !== "polling") return;
      this.#failed_sockets = 0;
      this.#setStatus("away", { code: 1006, reason: "the server cannot be reached", retry_in_s: FIRST_PAUSE_S });
      this.#timer = setTimeout(() => this.#reconnect(), FIRST_PAUSE_S * 1000);
      return;
    }
    await this.#watchRoom().catch(() => {});
    if (isOver()) return;
    clearTimeout(this.#polls);
    const every_s = this.snapshot?.state === "voting" || this.snapshot?.match?.voted ? OUTCOME_EVERY_S : STATUS_EVERY_S;
    this.#polls = setTimeout(() => this.#poll(), every_s * 1000);
  }

  /** @param {Snapshot} snapshot @param {number} sent_ms */
  #receiveStatus(snapshot, sent_ms) {
    const before = this.snapshot;
    const first = this.status !== "polling";
    this.snapshot = snapshot;
    if (first) {
      this.#pause_s = FIRST_PAUSE_S;
      // A socket that is being opened may still open.
      if (this.#socket === null) this.#trySocketLater();
      this.#setStatus("polling", {});
      for (const [id, pending] of this.#pending) {
        this.#pending.delete(id);
        clearTimeout(pending.timer);
        this.#callInstead(pending.type, pending.fields).then(pending.resolve, pending.reject);
      }
      this.#dispatch("welcome", { type: "welcome", snapshot, resumed: false });
    }
    for (const event of before && !first ? eventsBetween(before, snapshot) : []) this.#dispatch(event.type, { at: new Date(sent_ms).toISOString(), seq: 0, replayed: false, ...event });
    this.#dispatch("change", snapshot);
  }

  /** Enter the room of `connect`. A user who waits, or is in a match or on a date, stays where they are. */
  async #enterWanted() {
    if (!this.#wanted) return;
    const { room, code } = this.#wanted;
    await this.api.enterRoom(room, code).catch((error) => { if (error.code !== "wrong_state") throw error; });
    this.#wanted = null;
  }

  /** The server did not let the user into the room of `connect`. @param {YokedError} error */
  #refuse(error) {
    this.refused = error;
    this.#finish(1000, error.message);
  }

  /** Without a socket nobody tells that the room closes: ask. */
  async #watchRoom() {
    const { room, state } = this.snapshot ?? {};
    if (!room || room === MAIN) this.#room = null;
    else if (this.#room?.room !== room) this.#room = { room, has_closed: false, told: "", asked_ms: 0 };
    const known = this.#room;
    if (!known || Date.now() - known.asked_ms < ROOM_EVERY_S * 1000) return;
    known.asked_ms = Date.now();
    const entry = (await this.rooms()).find((one) => one.room === known.room);
    if (this.status !== "polling" || this.#room !== known || this.snapshot?.room !== known.room) return;
    const said = { at: new Date().toISOString(), seq: 0, replayed: false };
    if (!entry?.is_open) {
      const is_first = !known.has_closed && state === "idle" && !this.snapshot.date;
      known.has_closed ||= is_first;
      if (is_first) this.#dispatch("idle", { type: "idle", reason: "room_closed", ...said });
      return;
    }
    known.has_closed = false;
    const { closes_at } = entry;
    if (!closes_at || closes_at === known.told || Date.parse(closes_at) - this.now() > CLOSING_S * 1000) return;
    known.told = closes_at;
    this.#dispatch("room_closing", { type: "room_closing", room: known.room, closes_at, ...said });
  }

  /** Try to open a socket after a pause, which doubles. */
  #trySocketLater() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#open(), this.#nextPause(SOCKET_AGAIN_S) * 1000);
  }

  /** The pause before the next attempt; the one after it is twice as long. @param {number} longest_s */
  #nextPause(longest_s) {
    // Jitter spreads the reconnects of clients that were disconnected at the same time.
    const pause_s = this.#pause_s * (0.5 + Math.random() / 2);
    this.#pause_s = Math.min(this.#pause_s * 2, longest_s);
    return pause_s;
  }

  /** Make the HTTP call of a command. @param {string} type @param {Record<string, any>} fields @returns {Promise<any>} */
  async #callInstead(type, fields) {
    const call = CALLS[type];
    if (!call) throw new YokedError("no_socket", `${type} needs a WebSocket, and the network allows none`);
    const [method, path] = call;
    const body = { ...fields };
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => {
      delete body[name];
      return encodeURIComponent(String(fields[name]));
    });
    const reply = await this.api.call(method, filled, method === "GET" || Object.keys(body).length === 0 ? undefined : body);
    if (type !== "explain") await this.#poll();
    return { type: "ok", re: "", ...reply };
  }

  #sendHeartbeat() {
    // No message for two heartbeats: the socket is open, but the connection is dead.
    if (Date.now() - this.#received_ms > (2 * this.heartbeat_every_s + 2) * 1000) {
      // A node that hangs accepts sockets all the same: the first address knows who has the room now.
      this.#goTo(this.api.home);
      return this.#abandon("no message from the server");
    }
    this.heartbeat().catch(() => {});
  }

  // Messages

  /** @param {Pending} pending */
  #send(pending) {
    pending.sent_ms = Date.now();
    // A closing socket would drop the message. It is sent again after the next welcome.
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(pending.text);
  }

  /** @param {any} message */
  #receive(message) {
    this.#received_ms = Date.now();
    // A reply to hello or an event; the server closes the socket after both.
    if (message.type === "suspended" || message.code === "suspended") this.suspended = { reason: message.reason, until: message.until };
    if (message.code === "moved") this.#moved_to = message.url;
    if (message.type === "error" && message.re === this.#hello_id && ROOM_REFUSALS.has(message.code)) return this.#refuse(new YokedError(message.code, message.message));
    if (message.type === "ok" || message.type === "error") return this.#settle(message);
    if (message.type === "welcome") return this.#receiveWelcome(message);
    if (this.#resume) this.#resume.seq = message.seq;
    if (message.type === "draining") this.#least_s = message.reconnect_after_s;
    if (message.type === "call_ended") this.#ended_call = message.call_id;
    // Events that are repeated after a welcome are part of its snapshot.
    const replayed = microseconds(message.at) < this.#welcomed_at;
    if (!replayed && this.snapshot) this.snapshot = advance(this.snapshot, message);
    this.#dispatch(message.type, { ...message, replayed });
    if (!replayed) this.#dispatch("change", this.snapshot);
  }

  /** @param {any} message */
  #receiveWelcome(message) {
    const lost = this.#resume !== null && !message.resumed;
    clearTimeout(this.#polls);
    this.#resume = { session: message.session, seq: message.seq };
    this.#welcomed_at = microseconds(message.at);
    this.#sample(message.at, this.#hello_ms);
    this.#pause_s = FIRST_PAUSE_S;
    this.#hops = 0;
    this.heartbeat_every_s = message.heartbeat_every_s;
    clearTimeout(this.#timer);
    clearInterval(this.#heartbeats);
    this.#heartbeats = setInterval(() => this.#sendHeartbeat(), this.heartbeat_every_s * 1000);
    this.#tried_renewal = false;
    if (message.expires_at) this.#renewBefore(message.expires_at);
    this.snapshot = message.snapshot;
    this.#wanted = null;
    this.#settleMoves(message.room);
    if (lost) this.#rejectAll("connection_lost", "the session is gone; see the snapshot for the current state");
    this.#setStatus("online", {});
    for (const pending of this.#pending.values()) this.#send(pending);
    this.#dispatch("welcome", message);
    this.#dispatch("change", this.snapshot);
  }

  /** Another node serves the room that the user has entered: the welcome there is the answer. @param {string} room */
  #settleMoves(room) {
    for (const [id, pending] of this.#pending) {
      if (pending.type === "enter_room" && pending.fields.room === room) this.#settle({ type: "ok", re: id, room });
    }
  }

  /** @param {any} message */
  #settle(message) {
    const pending = this.#pending.get(message.re);
    if (!pending) return;
    this.#pending.delete(message.re);
    clearTimeout(pending.timer);
    if (message.type === "error") return pending.reject(new YokedError(message.code, message.message));
    if (message.at) this.#sample(message.at, pending.sent_ms);
    const { match } = this.snapshot ?? {};
    const done = { acknowledge: "acknowledged", vote: "voted" }[pending.type];
    if (done && match && this.snapshot && match.match_id === pending.fields.match_id) {
      this.snapshot = { ...this.snapshot, match: { ...match, [done]: true } };
      this.#dispatch("change", this.snapshot);
    }
    if (pending.type === "enter_room" && this.snapshot && this.snapshot.room !== message.room) {
      this.snapshot = { ...this.snapshot, room: message.room };
      this.#dispatch("change", this.snapshot);
    }
    // A reply that was sent again may come after the end of its call.
    if (pending.type === "start_date" && this.snapshot && !this.snapshot.call && message.call_id !== this.#ended_call) {
      this.snapshot = { ...this.snapshot, call: { call_id: message.call_id, ring_until: message.ring_until, incoming: false } };
      this.#dispatch("change", this.snapshot);
    }
    pending.resolve(message);
  }

  /** Measure the offset of the server's clock. `now` uses the sample with the shortest round trip. @param {string} at @param {number} sent_ms */
  #sample(at, sent_ms) {
    const now = Date.now();
    this.#samples = [...this.#samples.slice(-7), { rtt: now - sent_ms, offset: Date.parse(at) - (sent_ms + now) / 2 }];
  }

  /** @param {string} code @param {string} message */
  #rejectAll(code, message) {
    for (const { reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(new YokedError(code, message));
    }
    this.#pending.clear();
  }

  /** @param {Status} status @param {object} detail */
  #setStatus(status, detail) {
    this.status = status;
    this.#dispatch("status", { status, ...detail });
  }

  /** @param {string} type @param {unknown} detail */
  #dispatch(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }
}

/**
 * Connect a user. Returns immediately. The client connects and reconnects until it is closed, replaced
 * by a newer connection of the same user, its token is refused, or the user is suspended.
 * @param {{url?: string, token: string, room?: string, code?: string, renewToken?: () => Promise<string>, timeout_s?: number, hops?: number}} options
 */
export function connect(options) {
  return new Client(options);
}
