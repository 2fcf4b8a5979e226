// The app: the signed-in user, the user's state as the server reports it, and notices about events.
// The router picks the page. Nothing here changes the state before the server has confirmed it.

import { Api, BAD_TOKEN, connect } from "/yoked.js";
import { announce, button } from "./dom.js";
import { Router } from "./router.js";
import { showWarning } from "./warning.js";
import { noticeFor, refusal, SIGN_IN_AGAIN, suspension } from "./words.js";

const KEY = "yoked.token";
const EVENTS = ["waiting", "tier", "nudge", "idle", "matched", "voting", "outcome", "match_cancelled", "call", "call_ended", "date_started", "date_ended", "signal", "offers", "connection", "warning", "draining"];
/** Events that a page shows itself: they are only announced to screen readers. */
const ANNOUNCED_ONLY = new Set(["tier", "matched", "voting", "date_started"]);

/** The user ID in a token, for display only: the token is not verified here. */
function userOf(token) {
  try {
    return JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"))).sub ?? "";
  } catch {
    return "";
  }
}

export class App {
  /** @param {Document} document */
  constructor(document) {
    const meta = (name) => document.querySelector(`meta[name="yoked-${name}"]`)?.getAttribute("content") ?? "";
    this.dev = meta("dev") === "yes";
    this.genders = meta("genders").split(",");
    this.max_interests = Number(meta("max-interests"));
    this.vote_window_s = Number(meta("vote-window-s"));
    this.offers_at = meta("offers-at");
    /** @type {import("/yoked.js").Client|null} */
    this.client = null;
    /** Undefined until loaded; null if the user has none. @type {any} */
    this.profile = undefined;
    /** The last vote of this user. @type {string|null} */
    this.last_vote = null;
    /** A date that an outcome announced and that has not started yet. @type {string|null} */
    this.opening = null;
    /** Name of the person being blocked; the next end of a match or date is explained by that. @type {string|null} */
    this.blocking = null;
    /** Why the sign-in page is shown. */
    this.sign_in_notice = "";
    this.router = new Router(this);
    this.noticeBox = document.getElementById("notice");
    this.connectionBox = document.getElementById("connection");
  }

  start() {
    const token = sessionStorage.getItem(KEY);
    document.getElementById("sign-out")?.addEventListener("click", () => this.signOut());
    this.router.listen();
    if (token) this.#connect(token);
    this.router.follow();
  }

  get snapshot() { return this.client?.snapshot ?? null; }
  get api() { return this.client?.api ?? new Api(); }
  get user() { return this.client ? userOf(this.client.token) : ""; }

  /** The server's time in milliseconds. */
  now = () => this.client?.now() ?? Date.now();

  // Signing in and out

  /** @param {string} token */
  signIn(token) {
    sessionStorage.setItem(KEY, token);
    this.notify("");
    this.#connect(token);
    this.router.follow();
  }

  /** @param {string} [notice] text for the sign-in page */
  async signOut(notice = "") {
    const { client } = this;
    sessionStorage.removeItem(KEY);
    Object.assign(this, { client: null, profile: undefined, last_vote: null, opening: null, blocking: null, sign_in_notice: notice });
    this.notify("");
    this.#showConnection("");
    // The next user starts on the home page; after a notice it is probably the same user.
    if (!notice) history.replaceState(null, "", "/");
    this.router.follow();
    // Leave at once, so that a partner does not wait for the timeout.
    if (client?.status === "online" && client.snapshot?.date) await client.endDate(client.snapshot.date.date_id).catch(() => {});
    else if (client?.status === "online" && client.snapshot?.state !== "idle") await client.leave().catch(() => {});
    client?.close();
  }

  /** Make this window the active one again, after another one replaced it. */
  takeOver() {
    const token = sessionStorage.getItem(KEY);
    if (token) this.signIn(token);
  }

  /** @param {string} token */
  #connect(token) {
    this.client?.close();
    const client = connect({ token, renewToken: this.dev ? () => this.#logInAgain(token) : undefined });
    Object.assign(this, { client, profile: undefined, sign_in_notice: "" });
    const only = (act) => (event) => { if (client === this.client) act(event.detail); };
    client.addEventListener("status", only((detail) => this.#status(detail)));
    client.addEventListener("welcome", only(() => { this.opening = null; if (this.profile === undefined) this.loadProfile(); }));
    client.addEventListener("change", only(() => this.router.follow()));
    for (const type of EVENTS) client.addEventListener(type, only((event) => this.#handle(event)));
  }

  /** Get a new token from a development server. @param {string} token */
  async #logInAgain(token) {
    const newer = await new Api().devLogin(userOf(token));
    if (sessionStorage.getItem(KEY)) sessionStorage.setItem(KEY, newer);
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

  /** Sign out if the token is refused or the user is suspended; returns whether it did. @param {any} error */
  #isSignedOutBy(error) {
    if (error.code === "unauthorized") this.signOut(SIGN_IN_AGAIN);
    else if (error.code === "suspended" && error.said?.reason) this.signOut(suspension(error.said));
    else return error.code === "suspended";
    return true;
  }

  // Events

  #status({ status, code, retry_in_s, suspended }) {
    if (status === "closed" && code === BAD_TOKEN) return this.signOut(suspended ? suspension(suspended) : SIGN_IN_AGAIN);
    if (status === "away") this.#showConnection(retry_in_s > 1.5 ? `Connection lost. Reconnecting in ${Math.round(retry_in_s)} seconds.` : "Connection lost. Reconnecting…");
    else this.#showConnection("");
    this.router.follow();
  }

  #handle(event) {
    if (event.type === "outcome") this.opening = event.replayed ? null : event.date_id ?? null;
    if (event.type === "date_started") this.opening = null;
    if (event.type === "warning") return showWarning(this, event);
    if (event.type === "call" && !event.replayed) return this.#ring(event);
    const notice = this.#noticeFor(event);
    if (event.type === "outcome") this.last_vote = null;
    if (event.type === "call_ended" && !notice) return this.notify("");
    // "Welcome back" must not replace a notice about something that happened meanwhile.
    if (!notice || (event.reason === "resumed" && !this.noticeBox.hidden)) return;
    if (ANNOUNCED_ONLY.has(event.type)) {
      if (event.type !== "tier") this.notify("");
      announce(notice);
    } else {
      const links = { nudge: ["Spin", "/spin"], offers: ["View offers", "/offers"], connection: ["View connections", "/connections"] };
      const link = links[event.type];
      // On the page that a notice links to, the user sees the change anyway.
      if (link?.[1] === location.pathname && event.type !== "nudge") announce(notice);
      else this.notify(notice, link);
    }
  }

  /** A call rings: nothing is opened before the user accepts. */
  #ring({ call_id, partner }) {
    this.notify(`${partner.display_name} is calling.`);
    this.noticeBox.append(
      button("Accept", () => this.attempt(() => this.client.acceptCall(call_id)), "main"),
      button("Decline", () => this.attempt(() => this.client.declineCall(call_id))));
  }

  #noticeFor(event) {
    if (!this.blocking || !["match_cancelled", "outcome", "date_ended"].includes(event.type)) return noticeFor(event, this.last_vote);
    const notice = `${this.blocking} is blocked. You won't be matched again.`;
    this.blocking = null;
    return notice;
  }

  // Notices

  /** Show a notice at the top of the page until it is dismissed or replaced. @param {string} text @param {[string, string]} [link] */
  notify(text, link) {
    const box = this.noticeBox;
    box.hidden = !text;
    box.replaceChildren(text);
    box.classList.remove("bad");
    if (link) box.append(" ", Object.assign(document.createElement("a"), { href: link[1], textContent: link[0] }));
    if (text) {
      box.append(button("×", () => this.notify(""), "dismiss", { "aria-label": "Dismiss" }));
      announce(text);
    }
  }

  /** Show why an action failed. @param {any} error */
  showError(error) {
    if (error?.code === "profile_incomplete") this.go("/profile");
    this.notify(refusal(error));
    this.noticeBox.classList.add("bad");
  }

  #showConnection(text) {
    this.connectionBox.hidden = !text;
    this.connectionBox.textContent = text;
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
    return this.attempt(() => this.client.spin());
  }

  /** @param {string} match_id @param {"yes"|"pass"} vote */
  vote(match_id, vote) {
    this.last_vote = vote;
    return this.attempt(() => this.client.vote(match_id, vote));
  }

  /** @param {any} partner */
  async block(partner) {
    this.blocking = partner.display_name;
    if (!(await this.attempt(() => this.client.block(partner.user_id)))) this.blocking = null;
  }
}
