// The app: the signed-in user, the user's state as the server reports it, and notices about events.
// The router picks the page. Nothing here changes the state before the server has confirmed it.

import { Api, BAD_TOKEN, connect } from "/yoked.js";
import { listenForClicks, reach, stayAwake } from "./attention.js";
import { showConnection } from "./connection-banner.js";
import { askToReport, closeDialogs } from "./dialogs.js";
import { draftOf, keepDraft } from "./drafts.js";
import { offerLanguages, showLanguage } from "./language-box.js";
import { Notices } from "./notices.js";
import { prefer } from "./preferences.js";
import { Ringing } from "./ringing.js";
import { Rooms } from "./rooms.js";
import { Router } from "./router.js";
import { t } from "./texts.js";
import { forgetToken, storedToken, storeToken, userOf } from "./token.js";
import { showWarning } from "./warning.js";
import { noticeFor, refusal } from "./words.js";

const EVENTS = ["waiting", "tier", "nudge", "idle", "matched", "voting", "outcome", "match_cancelled", "call", "call_ended", "date_started", "date_ended", "signal", "offers", "connection", "warning", "room_closing", "draining"];
/** The close reason of the server when the account is erased. */
const ERASED = /erased/;

export class App {
  /** @param {Document} document */
  constructor(document) {
    const meta = (name) => document.querySelector(`meta[name="yoked-${name}"]`)?.getAttribute("content") ?? "";
    this.dev = meta("dev") === "yes";
    this.genders = meta("genders").split(",");
    this.max_interests = Number(meta("max-interests"));
    this.vote_window_s = Number(meta("vote-window-s"));
    this.date_minutes = Math.round(Number(meta("date-length-s")) / 6) / 10;
    this.tiers = meta("tiers").split(",").map(Number);
    this.met_days = Number(meta("met-days"));
    this.offers_at = meta("offers-at");
    this.hops = Number(meta("hops"));
    /** @type {import("/yoked.js").Client|null} */
    this.client = null;
    /** Undefined until loaded; null if the user has none. @type {any} */
    this.profile = undefined;
    /** What the user has typed into the profile and not saved. @type {any} */
    this.profile_draft = null;
    /** The last vote of this user. @type {string|null} */
    this.last_vote = null;
    /** A date that an outcome announced and that has not started yet. @type {string|null} */
    this.opening = null;
    /** The person whom this user called last. @type {any} */
    this.calling = null;
    /** The last date, to know its partner when it has ended. @type {any} */
    this.dated = null;
    /** A date after which the user is asked whether to stay in touch. @type {any} */
    this.touch = null;
    /** Why and until when the user is suspended. @type {{reason: string, until: string|null}|null} */
    this.suspended = null;
    /** Name of the person being blocked; the next end of a match or date is explained by that. @type {string|null} */
    this.blocking = null;
    /** Why the sign-in page is shown. */
    this.sign_in_notice = "";
    this.rooms = new Rooms(this);
    this.router = new Router(this);
    this.ringing = new Ringing(this);
    this.notices = new Notices(document.getElementById("notice"));
  }

  start() {
    const token = storedToken();
    document.getElementById("sign-out")?.addEventListener("click", () => this.signOut());
    offerLanguages((code) => this.setLanguage(code));
    listenForClicks();
    for (const type of ["online", "offline"]) addEventListener(type, () => this.#showConnection());
    this.router.listen();
    if (token) this.#connect(token);
    this.router.follow();
  }

  get snapshot() { return this.client?.snapshot ?? null; }
  get api() { return this.client?.api ?? new Api(); }
  /** The limits of this user that are never widened. @returns {string[]} */
  get strict() { return this.profile?.preferences.strict ?? []; }
  get user() { return this.client ? userOf(this.client.token) : ""; }

  /** The server's time in milliseconds. */
  now = () => this.client?.now() ?? Date.now();

  // Language

  /** @param {string} code */
  setLanguage(code) {
    prefer({ language: code });
    showLanguage();
    this.notify("");
    this.#showConnection();
    this.router.refresh();
  }

  // Signing in and out

  /** @param {string} token */
  signIn(token) {
    storeToken(token);
    this.notify("");
    this.#connect(token);
    this.router.follow();
  }

  /** @param {string} [notice] text for the sign-in page */
  async signOut(notice = "") {
    const { client } = this;
    forgetToken();
    closeDialogs();
    Object.assign(this, { client: null, rooms: new Rooms(this), profile: undefined, profile_draft: null, last_vote: null, opening: null, touch: null, suspended: null, blocking: null, sign_in_notice: notice });
    this.notify("");
    this.#showConnection();
    stayAwake(false);
    // The next user starts on the home page; after a notice it is probably the same user.
    if (!notice) history.replaceState(null, "", "/");
    this.router.follow();
    // Leave at once, so that a partner does not wait for the timeout.
    if (client?.isLive && client.snapshot?.date) await client.endDate(client.snapshot.date.date_id).catch(() => {});
    else if (client?.isLive && client.snapshot?.state !== "idle") await client.leave().catch(() => {});
    client?.close();
  }

  /** Make this window the active one again, after another one replaced it. */
  takeOver() {
    const token = storedToken();
    if (token) this.signIn(token);
  }

  /** @param {string} token */
  #connect(token) {
    this.client?.close();
    const client = connect({ token, renewToken: this.dev ? () => this.#logInAgain(token) : undefined, hops: this.hops });
    Object.assign(this, { client, rooms: new Rooms(this), profile: undefined, suspended: null, sign_in_notice: "" });
    const only = (act) => (event) => { if (client === this.client) act(event.detail); };
    client.addEventListener("status", only((detail) => this.#status(detail)));
    client.addEventListener("welcome", only(() => this.#welcome()));
    client.addEventListener("change", only(() => this.#change()));
    for (const type of EVENTS) client.addEventListener(type, only((event) => this.#handle(event)));
  }

  /** Get a new token from a development server. @param {string} token */
  async #logInAgain(token) {
    const newer = await new Api().devLogin(userOf(token));
    if (storedToken()) storeToken(newer);
    return newer;
  }

  async loadProfile() {
    const { client } = this;
    try {
      const profile = await this.api.profile();
      if (client !== this.client) return;
      this.profile = profile;
      if (profile === null && this.router.place() === null) return this.go("/profile");
    } catch (error) {
      if (client !== this.client) return;
      if (this.#isSignedOutBy(error)) return;
      this.showError(error);
    }
    this.router.follow();
  }

  /** Show the page for it if the token is refused or the user is suspended; returns whether it did. @param {any} error */
  #isSignedOutBy(error) {
    if (error.code === "unauthorized") this.signOut(t("refusal.unauthorized"));
    else if (error.code === "suspended" && error.said?.reason) this.#suspend(error.said);
    else return error.code === "suspended";
    return true;
  }

  #suspend({ reason, until }) {
    const { client } = this;
    this.suspended = { reason, until };
    closeDialogs();
    this.notify("");
    this.router.follow();
    client?.close();
  }

  // Events

  #status(detail) {
    const { status, code, reason, suspended } = detail;
    if (status === "closed" && suspended) return this.#suspend(suspended);
    if (status === "closed" && code === BAD_TOKEN) return this.signOut(ERASED.test(reason) ? t("signIn.erased") : t("refusal.unauthorized"));
    this.#showConnection(detail);
    this.router.follow();
  }

  #showConnection({ retry_in_s = 0 } = {}) { showConnection(this.suspended ? null : this.client, retry_in_s); }

  #welcome() {
    this.opening = null;
    if (this.profile === undefined) this.loadProfile();
    if (this.rooms.list === null) this.rooms.load();
    const draft = draftOf(this.user);
    if (!draft || document.querySelector("dialog[open]")) return;
    const name = draft.partner.display_name;
    this.notify(t("report.unfinished", { name }), [t("report.continue"), () => { this.notify(""); askToReport(this, draft.partner, draft.match_id); }], [t("report.discard"), () => { keepDraft(this.user, draft.partner, undefined, ""); this.notify(""); }]);
  }

  #change() {
    const { snapshot } = this;
    // After a call of this user's own, the client does not know the partner yet.
    this.ringing.show(snapshot?.call ? { partner: this.calling, ...snapshot.call } : null);
    if (snapshot?.date) this.dated = snapshot.date;
    stayAwake(Boolean(snapshot && (snapshot.state !== "idle" || snapshot.date)));
    this.router.follow();
  }

  #handle(event) {
    if (event.type === "outcome") this.opening = event.replayed ? null : event.date_id ?? null;
    if (event.type === "date_started") Object.assign(this, { opening: null, touch: null });
    if (event.type === "matched" && !event.replayed) reach(t("reach.found"), t("reach.foundText", { name: event.partner.display_name }), "match");
    if (event.type === "warning") return showWarning(this, event);
    if (event.type === "room_closing" || event.reason === "room_closed") return this.rooms.tell(event);
    if (event.type === "date_ended") this.#askToStayInTouch(event);
    const notice = event.type === "call_ended" ? this.ringing.end(event) : this.#noticeFor(event);
    if (event.type === "outcome") this.last_vote = null;
    if (notice) this.notices.tell(event, notice);
  }

  #askToStayInTouch({ date_id, touch_until, replayed }) {
    const partner = this.dated?.date_id === date_id ? this.dated.partner : null;
    if (touch_until && partner && this.blocking !== partner.display_name && !replayed) this.touch = { date_id, partner, touch_until };
  }

  #noticeFor(event) {
    if (!this.blocking || !["match_cancelled", "outcome", "date_ended"].includes(event.type)) return noticeFor(event, this.last_vote, this.strict);
    const notice = t("block.done", { name: this.blocking });
    this.blocking = null;
    return notice;
  }

  // Notices

  /** Show a notice until it is dismissed or replaced. A link has an address, or a function. @param {string} text @param {...([string, string | (() => void)] | undefined)} links */
  notify(text, ...links) { this.notices.show(text, ...links); }

  /** Show why an action failed. @param {any} error */
  showError(error) {
    if (error?.code === "profile_incomplete") this.go("/profile");
    if (error?.code === "room_closed") return this.rooms.leave(refusal(error));
    this.notices.showError(refusal(error));
  }

  // Actions of the user

  /** @param {string} path */
  go(path) { this.router.go(path); }

  /** Call the server; on failure show why and return null. @param {() => Promise<any>} act */
  async attempt(act) {
    try {
      return await act();
    } catch (error) {
      if (!this.#isSignedOutBy(error)) this.showError(error);
      return null;
    }
  }

  spin() {
    this.notify("");
    this.touch = null;
    return this.attempt(() => this.client.spin());
  }

  /** @param {string} match_id @param {"yes"|"pass"} vote */
  vote(match_id, vote) {
    this.last_vote = vote;
    return this.attempt(() => this.client.vote(match_id, vote));
  }

  /** Call a connection: it rings there. @param {{connection_id: string, partner: any}} connection */
  async call({ connection_id, partner }) {
    this.notify("");
    this.calling = partner;
    await this.attempt(() => this.client.startDate(connection_id));
  }

  /** The question after a date is answered, or left for later: go on, out of the room if that has closed. */
  touched() {
    this.touch = null;
    return this.rooms.left ? this.rooms.leave(this.rooms.left) : this.router.follow();
  }

  /** @param {string} date_id @param {any} partner @param {"yes"|"no"} answer */
  async stayInTouch(date_id, partner, answer) {
    const reply = await this.attempt(() => this.api.stayInTouch(date_id, answer));
    if (reply && !reply.connection_id) this.notify(t(answer === "yes" ? "touch.saidYes" : "touch.saidNo", { name: partner.display_name }));
    return reply;
  }

  /** @param {any} partner */
  async block(partner) {
    const { match, date } = this.snapshot ?? {};
    const together = match?.partner.user_id === partner.user_id || date?.partner.user_id === partner.user_id;
    this.blocking = together ? partner.display_name : null;
    const done = await this.attempt(() => this.client.block(partner.user_id));
    if (!done) this.blocking = null;
    else if (!together) this.notify(t("block.done", { name: partner.display_name }));
    return done;
  }

  /** Erase everything about the user, and sign out. */
  async erase() {
    await this.api.erase();
    this.signOut(t("signIn.erased"));
  }
}
