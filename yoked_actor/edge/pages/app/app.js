// The app: who is signed in, what the server says about them, and what has just happened.
// Which page that makes is the router's business; nothing here or there runs ahead of the server.

import { Api, BAD_TOKEN, connect } from "/yoked.js";
import { announce, button } from "./dom.js";
import { Router } from "./router.js";
import { farewell, refusal, storyOf, suspension } from "./words.js";

const KEY = "yoked.token";
const EVENTS = ["waiting", "tier", "nudge", "idle", "matched", "voting", "outcome", "match_cancelled", "date_started", "date_ended", "signal", "offers", "connection", "draining"];
/** What the pages themselves show is only said aloud; the rest stays to be read as well. */
const SPOKEN_ONLY = new Set(["tier", "matched", "voting", "date_started"]);

/** The user id in a token, to be shown; what it is worth is for the server to judge. */
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
    /** Undefined until the server has said; null when there is none. @type {any} */
    this.profile = undefined;
    /** How this person voted last. @type {string|null} */
    this.mine = null;
    /** A date that the outcome has announced and that has not opened yet. @type {string|null} */
    this.opening = null;
    /** Whom this person is blocking; the ending that follows is told as that. @type {string|null} */
    this.blocking = null;
    /** Why the sign-in page is shown. */
    this.notice = "";
    this.router = new Router(this);
    this.storyBox = document.getElementById("story");
    this.lineBox = document.getElementById("line");
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

  // Coming and going

  /** @param {string} token */
  signIn(token) {
    sessionStorage.setItem(KEY, token);
    this.tell("");
    this.#connect(token);
    this.router.follow();
  }

  /** @param {string} [notice] what to say on the sign-in page */
  async signOut(notice = "") {
    const { client } = this;
    sessionStorage.removeItem(KEY);
    Object.assign(this, { client: null, profile: undefined, mine: null, opening: null, blocking: null, notice });
    this.tell("");
    this.#line("");
    // Whoever signs in next does not want to be where this one was, unless it is the same one.
    if (!notice) history.replaceState(null, "", "/");
    this.router.follow();
    // Who goes home on purpose should not keep anybody waiting.
    if (client?.status === "online" && client.snapshot?.date) await client.endDate(client.snapshot.date.date_id).catch(() => {});
    else if (client?.status === "online" && client.snapshot?.state !== "idle") await client.leave().catch(() => {});
    client?.close();
  }

  /** Take over from the window that took over from this one. */
  comeBack() {
    const token = sessionStorage.getItem(KEY);
    if (token) this.signIn(token);
  }

  /** @param {string} token */
  #connect(token) {
    this.client?.close();
    const client = connect({ token, renewToken: this.dev ? () => this.#logInAgain(token) : undefined });
    Object.assign(this, { client, profile: undefined, notice: "" });
    const only = (act) => (event) => { if (client === this.client) act(event.detail); };
    client.addEventListener("status", only((detail) => this.#status(detail)));
    client.addEventListener("welcome", only(() => { this.opening = null; if (this.profile === undefined) this.loadProfile(); }));
    client.addEventListener("change", only(() => this.router.follow()));
    for (const type of EVENTS) client.addEventListener(type, only((event) => this.#happened(event)));
  }

  /** A development server gives out tokens for the asking. @param {string} token */
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
      if (this.#isShutOut(error)) return;
      this.complain(error);
    }
    this.router.follow();
  }

  /** Sign out when the server wants nothing of this user any more, and say why. @param {any} error */
  #isShutOut(error) {
    if (error.code === "unauthorized") this.signOut(farewell(BAD_TOKEN));
    else if (error.code === "suspended" && error.said?.reason) this.signOut(suspension(error.said));
    else return error.code === "suspended";
    return true;
  }

  // What happens

  #status({ status, code, retry_in_s, suspended }) {
    if (status === "closed" && code === BAD_TOKEN) return this.signOut(suspended ? suspension(suspended) : farewell(code));
    if (status === "away") this.#line(retry_in_s > 1.5 ? `The connection is lost. Trying again in ${Math.round(retry_in_s)} seconds.` : "The connection is lost. Coming back…");
    else this.#line("");
    this.router.follow();
  }

  #happened(event) {
    if (event.type === "outcome") this.opening = event.replayed ? null : event.date_id ?? null;
    if (event.type === "date_started") this.opening = null;
    const story = this.#storyOf(event);
    if (event.type === "outcome") this.mine = null;
    // That one is still in line is no news beside what has happened meanwhile.
    if (!story || (event.reason === "resumed" && !this.storyBox.hidden)) return;
    if (SPOKEN_ONLY.has(event.type)) {
      if (event.type !== "tier") this.tell("");
      announce(story);
    } else {
      const links = { nudge: ["Spin", "/spin"], offers: ["See them", "/offers"], connection: ["See your connections", "/connections"] };
      const link = links[event.type];
      // Whoever is on the page that a story points to sees it there.
      if (link?.[1] === location.pathname && event.type !== "nudge") announce(story);
      else this.tell(story, link);
    }
  }

  #storyOf(event) {
    if (!this.blocking || !["match_cancelled", "outcome", "date_ended"].includes(event.type)) return storyOf(event, this.mine);
    const story = `${this.blocking} is blocked. You will not be introduced to each other again.`;
    this.blocking = null;
    return story;
  }

  // What is said

  /** Say something at the top of the page, until something else is said. @param {string} text @param {[string, string]} [link] */
  tell(text, link) {
    const box = this.storyBox;
    box.hidden = !text;
    box.replaceChildren(text);
    box.classList.remove("bad");
    if (link) box.append(" ", Object.assign(document.createElement("a"), { href: link[1], textContent: link[0] }));
    if (text) {
      box.append(button("×", () => this.tell(""), "dismiss", { "aria-label": "Dismiss" }));
      announce(text);
    }
  }

  /** Say why something did not work. @param {any} error */
  complain(error) {
    if (error?.code === "profile_incomplete") this.go("/profile");
    this.tell(refusal(error));
    this.storyBox.classList.add("bad");
  }

  #line(text) {
    this.lineBox.hidden = !text;
    this.lineBox.textContent = text;
  }

  // What a person does

  /** @param {string} path */
  go(path) { this.router.go(path); }

  /** Do something with the server; a refusal is told. @param {() => Promise<any>} act */
  async attempt(act) {
    try {
      return await act();
    } catch (error) {
      if (!this.#isShutOut(error)) this.complain(error);
      return null;
    }
  }

  spin() {
    this.tell("");
    return this.attempt(() => this.client.spin());
  }

  /** @param {string} match_id @param {"yes"|"pass"} vote */
  vote(match_id, vote) {
    this.mine = vote;
    return this.attempt(() => this.client.vote(match_id, vote));
  }

  /** @param {any} partner */
  async block(partner) {
    this.blocking = partner.display_name;
    if (!(await this.attempt(() => this.client.block(partner.user_id)))) this.blocking = null;
  }
}
