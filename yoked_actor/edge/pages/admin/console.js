// The console: the signed-in operator, the status of the server, and the section that is shown.

import { Api } from "/yoked.js";
import { announce, button } from "/app/dom.js";
import { alertsView } from "./views/alerts.js";
import { auditView } from "./views/audit.js";
import { drainView } from "./views/drain.js";
import { jobView, jobsView } from "./views/jobs.js";
import { lineView } from "./views/line.js";
import { matchesView } from "./views/matches.js";
import { nowView } from "./views/now.js";
import { objectivesView } from "./views/objectives.js";
import { offersView } from "./views/offers.js";
import { qualityView } from "./views/quality.js";
import { reportsView } from "./views/reports.js";
import { roomsView } from "./views/rooms.js";
import { settingsView } from "./views/settings.js";
import { signInView } from "./views/sign-in.js";
import { userView, usersView } from "./views/users.js";
import { Watch } from "./watch.js";
import { alertName, alertWords, refusal } from "./words.js";

const KEY = "yoked.admin-token";
const VIEWS = {
  now: nowView, line: lineView, matches: matchesView, rooms: roomsView, users: usersView, reports: reportsView, jobs: jobsView, offers: offersView, alerts: alertsView,
  quality: qualityView, objectives: objectivesView, settings: settingsView, audit: auditView, drain: drainView,
};
/** Sections whose address may go on with the id of one thing. @type {Record<string, (app: Console, id: string) => any>} */
const DETAILS = { jobs: jobView, users: userView };

const ROLES = ["viewer", "moderator", "admin"];

/** The user ID and the role in a token, for display only: the token is not verified here. */
function claimsOf(token) {
  try {
    const { sub = "", role = "" } = JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
    return { user: String(sub), role: ROLES.includes(role) ? role : "" };
  } catch {
    return { user: "", role: "" };
  }
}

export class Console {
  /** @param {Document} document */
  constructor(document) {
    this.dev = document.querySelector('meta[name="yoked-dev"]')?.getAttribute("content") === "yes";
    this.main = document.getElementById("main");
    this.api = new Api();
    /** The last status from the server. @type {any} */
    this.status = null;
    /** How many reports are open; null before the first status. @type {number|null} */
    this.open_reports = null;
    this.draining = false;
    this.notice = "";
    /** @type {Watch|null} */
    this.watch = null;
    this.view = null;
    this.user = "";
    this.role = "";
  }

  /** Whether the operator's role includes another one; the server decides in any case. @param {string} needed */
  may(needed) { return ROLES.indexOf(this.role) >= ROLES.indexOf(needed); }

  start() {
    const token = sessionStorage.getItem(KEY);
    document.getElementById("sign-out").addEventListener("click", () => this.signOut());
    addEventListener("hashchange", () => this.follow());
    if (token) this.#connect(token);
    this.follow();
  }

  // Signing in and out

  /** Sign in with a token; rejects if the server refuses it. @param {string} token */
  async signIn(token) {
    await new Api({ token }).call("GET", "/api/admin/alerts");
    sessionStorage.setItem(KEY, token);
    this.notice = "";
    this.#connect(token);
    this.follow();
  }

  /** @param {string} [notice] text for the sign-in page */
  signOut(notice = "") {
    sessionStorage.removeItem(KEY);
    this.watch?.close();
    Object.assign(this, { watch: null, status: null, api: new Api(), notice, draining: false });
    this.notify("");
    this.follow();
  }

  #connect(token) {
    this.watch?.close();
    const watch = new Watch(token);
    Object.assign(this, { watch, api: new Api({ token }), status: null });
    const { user, role } = claimsOf(token);
    Object.assign(this, { user, role });
    document.getElementById("user-name").textContent = user;
    document.getElementById("user-role").textContent = role;
    const only = (act) => (event) => { if (watch === this.watch) act(event.detail); };
    watch.addEventListener("status", only((status) => this.#receive(status)));
    watch.addEventListener("draining", only(() => { this.draining = true; this.#showConnection("The server is stopping…", "away"); this.view?.update?.(); }));
    watch.addEventListener("connection", only((detail) => this.#connection(detail)));
    this.#showConnection("Connecting…", "away");
  }

  #connection({ state, reason, retry_in_s }) {
    if (state === "refused") return this.signOut(reason.startsWith("suspended") ? `This operator is ${reason}` : "The token is no longer valid, or has no role of an operator.");
    if (state === "live") {
      this.draining = false;
      this.#showConnection("Live", "live");
    } else {
      this.#showConnection(retry_in_s > 1.5 ? `Not connected. Reconnecting in ${Math.round(retry_in_s)} s.` : "Not connected. Reconnecting…", "away");
    }
  }

  #showConnection(text, kind) {
    const box = document.getElementById("connection");
    box.textContent = text;
    box.className = `connection-state ${kind}`;
  }

  #receive(status) {
    const before = new Set((this.status?.alerts ?? []).map(alertName));
    const raised = status.alerts.filter((one) => !before.has(alertName(one)));
    this.status = status;
    if (raised.length) announce(`Alert: ${raised.map((one) => alertWords(one).title).join(", ")}.`);
    this.#badge("alert-count", status.alerts.length, "alerts");
    const { reports: open } = status;
    if (this.open_reports !== null && open > this.open_reports) announce(open - this.open_reports === 1 ? "A new report has arrived." : `${open - this.open_reports} new reports have arrived.`);
    this.open_reports = open;
    this.#badge("report-count", open, "open reports");
    this.#badge("dead-letters", status.jobs.dead_letter ?? 0, "dead letters");
    this.view?.update?.();
  }

  #badge(id, count, what) {
    const badge = document.getElementById(id);
    badge.hidden = count === 0;
    badge.textContent = count >= 1000 ? "999+" : count.toLocaleString();
    badge.setAttribute("aria-label", `${count} ${what}`);
  }

  // Sections

  /** Show the section that is named in the URL. */
  follow() {
    const signedIn = this.watch !== null;
    document.documentElement.classList.toggle("signed-in", signedIn);
    for (const part of document.querySelectorAll("[data-signed-in]")) part.hidden = !signedIn;
    const [name, ...rest] = decodeURIComponent(location.hash.slice(1)).split("/");
    const section = Object.hasOwn(VIEWS, name) ? name : "now";
    const id = rest.join("/");
    const isDetail = section === "jobs" ? /^\d+$/.test(id) : section === "users" && id !== "";
    this.notify("");
    const arrived = this.view !== null;
    this.view?.leave?.();
    this.view = signedIn ? (isDetail ? DETAILS : VIEWS)[section](this, id) : signInView(this);
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

  // Notices and calls

  /** Show a notice at the top of the page. @param {string} text @param {string} [kind] */
  notify(text, kind = "") {
    const box = document.getElementById("notice");
    box.hidden = !text;
    box.className = `notice ${kind}`;
    box.replaceChildren(...(text ? [text, button("×", () => this.notify(""), "dismiss", { "aria-label": "Dismiss" })] : []));
    announce(text);
  }

  /** Call the server; on failure show why and return null. @param {string} method @param {string} path @param {unknown} [body] */
  async call(method, path, body) {
    try {
      return await this.api.call(method, path, body);
    } catch (error) {
      if (error.code === "unauthorized" || error.code === "suspended") this.signOut(refusal(error));
      else this.notify(refusal(error), "bad");
      return null;
    }
  }
}
