// Picks the page: by the user's state on the server first, then by the URL.

import { announce } from "./dom.js";
import { connections } from "./views/connections.js";
import { date } from "./views/date.js";
import { home } from "./views/home.js";
import { met } from "./views/met.js";
import { offers } from "./views/offers.js";
import { lost, opening, replaced } from "./views/opening.js";
import { profile } from "./views/profile.js";
import { rooms } from "./views/rooms.js";
import { settings } from "./views/settings.js";
import { signIn } from "./views/sign-in.js";
import { spin } from "./views/spin.js";
import { spinning } from "./views/spinning.js";
import { suspended } from "./views/suspended.js";
import { touch } from "./views/touch.js";
import { voting } from "./views/voting.js";

const VIEWS = { "/": home, "/profile": profile, "/spin": spin, "/spinning": spinning, "/voting-window": voting, "/video-date": date, "/offers": offers, "/connections": connections, "/met": met, "/rooms": rooms, "/settings": settings };
/** Pages that a user may open while waiting. */
const FREE = new Set(["/", "/profile", "/offers", "/connections", "/met", "/rooms", "/settings"]);
const TITLE_EVERY_MS = 1000;

export class Router {
  #key = "";
  /** @type {any} */ #view = null;
  /** @type {string|null|undefined} */ #place;
  /** The page that was requested before signing in. */
  #wanted = "";

  /** @param {import("./app.js").App} app */
  constructor(app) { this.app = app; }

  listen() {
    addEventListener("popstate", () => this.follow());
    setInterval(() => this.#showTitle(), TITLE_EVERY_MS);
    document.addEventListener("click", (event) => {
      const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
      const path = link?.getAttribute("href") ?? "";
      if (!(path in VIEWS) || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      this.app.notify("");
      this.go(path);
    });
  }

  /** @param {string} path */
  go(path) {
    if (path !== location.pathname) history.pushState(null, "", path);
    this.follow();
  }

  /** The page that the user's state requires; null if any page is allowed. */
  place() {
    const { snapshot } = this.app;
    if (!snapshot) return null;
    if (snapshot.date) return "/video-date";
    return { idle: null, waiting: "/spinning", matched: "/voting-window", voting: "/voting-window" }[snapshot.state];
  }

  /** Show the page for the current state and URL. */
  follow() {
    const { app } = this;
    // An unknown address: the server has answered it with 404.
    if (!(location.pathname in VIEWS)) return this.#show("lost", lost);
    if (!app.client) return this.#signedOut();
    this.#showSignedIn(true);
    document.documentElement.classList.toggle("barred", app.suspended !== null);
    if (app.suspended) return this.#show("suspended", suspended);
    if (app.client.status === "closed") return this.#show("replaced", replaced);
    if (!app.snapshot) return this.#show("opening", opening);
    if (app.opening) return;
    if (this.#wanted) history.replaceState(null, "", this.#wanted);
    this.#wanted = "";
    const path = this.#resolve();
    if (path !== location.pathname) history.replaceState(null, "", path);
    const { match, date } = app.snapshot;
    const subject = path === "/voting-window" ? match?.match_id : path === "/video-date" ? date?.date_id : "";
    // No navigation during a match or a date: other pages are not allowed then.
    document.documentElement.classList.toggle("busy", path === "/voting-window" || path === "/video-date");
    if (app.touch && path === "/spin") return this.#show(`touch ${app.touch.date_id}`, touch);
    this.#show(`${path} ${subject}`, VIEWS[path]);
  }

  /** Create the current page again, in another language. */
  refresh() {
    this.#key = "another language";
    this.follow();
  }

  #resolve() {
    const place = this.place();
    const moved = place !== this.#place;
    this.#place = place;
    const path = location.pathname;
    if (place === "/spinning") return !moved && FREE.has(path) ? path : place;
    if (place) return place;
    // Without a choice of rooms there is no such page.
    if (path === "/rooms" && this.app.rooms.list && !this.app.rooms.isShown) return "/";
    return FREE.has(path) ? path : "/spin";
  }

  #signedOut() {
    if (location.pathname === "/spin" || (FREE.has(location.pathname) && location.pathname !== "/")) this.#wanted = location.pathname;
    this.#place = undefined;
    if (location.pathname !== "/") history.replaceState(null, "", "/");
    this.#showSignedIn(false);
    this.#show("sign-in", signIn);
  }

  #show(key, make) {
    if (key === this.#key) return this.#view.update?.();
    const first = this.#key === "";
    this.#view?.close?.();
    this.#key = key;
    const main = document.getElementById("main");
    // Creating a view may have opened another page; keep that one.
    const view = make(this.app);
    if (this.#key !== key) return view.close?.();
    this.#view = view;
    main?.replaceChildren(...[view.root].flat());
    this.#showTitle();
    this.#markCurrent();
    if (!first) {
      scrollTo(0, 0);
      main?.querySelector("h1")?.focus({ preventScroll: true });
    }
    view.update?.();
    view.opened?.();
  }

  /** The title of the window counts, for a user who looks at another tab. */
  #showTitle() {
    const count = this.#view?.count?.();
    const title = [count && `(${count})`, this.#view?.title, "· Yoked"].filter(Boolean).join(" ");
    if (this.#view && document.title !== title) document.title = title;
  }

  #showSignedIn(signedIn) {
    for (const element of document.querySelectorAll("[data-signed-in]")) element.hidden = !signedIn;
    document.documentElement.classList.toggle("signed-in", signedIn);
    if (!signedIn) document.documentElement.classList.remove("busy", "barred");
    for (const element of document.querySelectorAll("[data-rooms]")) element.hidden = !this.app.rooms.isShown;
    const name = document.getElementById("user-name");
    if (name) name.textContent = this.app.profile?.display_name ?? this.app.user;
  }

  #markCurrent() {
    const path = ["/spinning", "/voting-window", "/video-date"].includes(location.pathname) ? "/spin" : location.pathname;
    for (const link of document.querySelectorAll("nav a")) {
      if (link.getAttribute("href") === path) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }
}
