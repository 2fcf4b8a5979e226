// The console: who is signed in, what the server says, and which section is shown.

import { Api } from "/yoked.js";
import { announce, button } from "/app/dom.js";
import { alertsView } from "./views/alerts.js";
import { auditView } from "./views/audit.js";
import { drainView } from "./views/drain.js";
import { jobView, jobsView } from "./views/jobs.js";
import { lineView } from "./views/line.js";
import { nowView } from "./views/now.js";
import { objectivesView } from "./views/objectives.js";
import { offersView } from "./views/offers.js";
import { reportsView } from "./views/reports.js";
import { signInView } from "./views/sign-in.js";
import { Watch } from "./watch.js";
import { alertName, alertWords, refusal } from "./words.js";

const KEY = "yoked.admin-token";
const VIEWS = { now: nowView, line: lineView, jobs: jobsView, job: jobView, offers: offersView, alerts: alertsView, objectives: objectivesView, reports: reportsView, audit: auditView, drain: drainView };

/** The user id in a token, to be shown; what it is worth is for the server to judge. */
function userOf(token) {
  try {
    return JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"))).sub ?? "";
  } catch {
    return "";
  }
}

export class Console {
  /** @param {Document} document */
  constructor(document) {
    this.dev = document.querySelector('meta[name="yoked-dev"]')?.getAttribute("content") === "yes";
    this.main = document.getElementById("main");
    this.api = new Api();
    /** How things stand, as last heard. @type {any} */
    this.status = null;
    this.draining = false;
    this.notice = "";
    /** @type {Watch|null} */
    this.watch = null;
    this.view = null;
  }

  start() {
    const token = sessionStorage.getItem(KEY);
    document.getElementById("sign-out").addEventListener("click", () => this.signOut());
    addEventListener("hashchange", () => this.follow());
    if (token) this.#connect(token);
    this.follow();
  }

  // Coming and going

  /** Sign in, if the server takes the token; rejects with its refusal. @param {string} token */
  async signIn(token) {
    await new Api({ token }).call("GET", "/api/admin/alerts");
    sessionStorage.setItem(KEY, token);
    this.notice = "";
    this.#connect(token);
    this.follow();
  }

  /** @param {string} [notice] what to say on the sign-in page */
  signOut(notice = "") {
    sessionStorage.removeItem(KEY);
    this.watch?.close();
    Object.assign(this, { watch: null, status: null, api: new Api(), notice, draining: false });
    this.tell("");
    this.follow();
  }

  #connect(token) {
    this.watch?.close();
    const watch = new Watch(token);
    Object.assign(this, { watch, api: new Api({ token }), status: null });
    document.getElementById("who").textContent = userOf(token);
    const only = (act) => (event) => { if (watch === this.watch) act(event.detail); };
    watch.addEventListener("status", only((status) => this.#hear(status)));
    watch.addEventListener("draining", only(() => { this.draining = true; this.#pulse("The server is stopping…", "away"); this.view?.update?.(); }));
    watch.addEventListener("pulse", only((news) => this.#beat(news)));
    this.#pulse("Connecting…", "away");
  }

  #beat({ pulse, reason, retry_in_s }) {
    if (pulse === "refused") return this.signOut(reason === "suspended" ? "You are suspended." : "That token is no longer good, or not an operator's.");
    if (pulse === "live") {
      this.draining = false;
      this.#pulse("Live", "live");
    } else {
      this.#pulse(retry_in_s > 1.5 ? `Not connected. Trying again in ${Math.round(retry_in_s)} s.` : "Not connected. Coming back…", "away");
    }
  }

  #pulse(text, kind) {
    const box = document.getElementById("pulse");
    box.textContent = text;
    box.className = `pulse ${kind}`;
  }

  #hear(status) {
    const before = new Set((this.status?.alerts ?? []).map(alertName));
    const raised = status.alerts.filter((one) => !before.has(alertName(one)));
    this.status = status;
    if (raised.length) announce(`Alert: ${raised.map((one) => alertWords(one).title).join(", ")}.`);
    this.#badge("alert-count", status.alerts.length, "alerts");
    this.#badge("dead-letters", status.jobs.dead_letter ?? 0, "dead letters");
    this.view?.update?.();
  }

  #badge(id, count, what) {
    const badge = document.getElementById(id);
    badge.hidden = count === 0;
    badge.textContent = count.toLocaleString();
    badge.setAttribute("aria-label", `${count} ${what}`);
  }

  // Where the operator is

  /** Show the section that the address names. */
  follow() {
    const signedIn = this.watch !== null;
    document.documentElement.classList.toggle("signed-in", signedIn);
    for (const part of document.querySelectorAll("[data-signed-in]")) part.hidden = !signedIn;
    const [name, ...rest] = decodeURIComponent(location.hash.slice(1)).split("/");
    const section = Object.hasOwn(VIEWS, name) ? name : "now";
    const key = section === "jobs" && /^\d+$/.test(rest[0] ?? "") ? "job" : section;
    this.tell("");
    const arrived = this.view !== null;
    this.view?.leave?.();
    this.view = signedIn ? VIEWS[key](this, rest.join("/")) : signInView(this);
    for (const link of document.querySelectorAll("nav a")) {
      if (link.hash === `#${section}`) {
        link.setAttribute("aria-current", "page");
        link.scrollIntoView({ block: "nearest", inline: "nearest" });
      } else {
        link.removeAttribute("aria-current");
      }
    }
    document.title = `${this.view.title} · Console · Yoked`;
    this.main.replaceChildren(this.view.root);
    if (arrived) this.main.querySelector("h1")?.focus();
    this.view.update?.();
  }

  // What happens

  /** Show what has happened. @param {string} text @param {string} [kind] */
  tell(text, kind = "") {
    const box = document.getElementById("story");
    box.hidden = !text;
    box.className = `story ${kind}`;
    box.replaceChildren(...(text ? [text, button("×", () => this.tell(""), "dismiss", { "aria-label": "Dismiss" })] : []));
    announce(text);
  }

  /** Make a call; when it is refused, say so and return null. @param {string} method @param {string} path @param {unknown} [body] */
  async call(method, path, body) {
    try {
      return await this.api.call(method, path, body);
    } catch (error) {
      if (error.code === "unauthorized" || error.code === "suspended") this.signOut(refusal(error));
      else this.tell(refusal(error), "bad");
      return null;
    }
  }
}
