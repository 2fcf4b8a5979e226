// The rooms that this user can see. With the room `main` alone, the pages do not mention rooms.

import { announce } from "./dom.js";
import { hour } from "./format.js";
import { t } from "./texts.js";

const MAIN = "main";

export class Rooms {
  /** Null until loaded. @type {import("/yoked.js").Room[]|null} */
  list = null;

  /** What to say when the user leaves a room that closed during a date; empty if there is none. */
  left = "";

  /** @param {any} app */
  constructor(app) { this.app = app; }

  /** The ID of the room that the user is in. @returns {string} */
  get current() { return this.app.snapshot?.room ?? MAIN; }

  get isInMain() { return this.current === MAIN; }

  /** Whether there is a room to choose. */
  get isShown() { return this.list !== null && (this.list.length > 1 || !this.isInMain); }

  /** @param {string} room */
  find(room) { return this.list?.find((one) => one.room === room); }

  /** The name of a room. @param {string} room */
  name(room) {
    const name = this.find(room)?.name ?? room;
    return name === MAIN ? t("rooms.main") : name;
  }

  /** Ask the server for the rooms; returns whether it answered. */
  async load() {
    const { app } = this;
    try {
      this.list = await app.api.rooms();
    } catch {
      return false;
    }
    if (app.rooms === this) app.router.follow();
    return true;
  }

  /** @param {string} room @param {string|undefined} code */
  async enter(room, code) {
    const { app } = this;
    await app.client.enterRoom(room, code);
    await this.load();
    app.notify("");
    app.go("/spin");
    announce(t("rooms.entered", { name: this.name(room) }));
  }

  /** Tell that the room closes soon, or has closed. @param {any} event */
  async tell({ type, room = this.current, closes_at }) {
    const { app } = this;
    if (this.list === null) await this.load();
    // A room that does not open again is not in the next list.
    const name = this.name(room);
    if (type === "idle") return this.leave(t("rooms.closed", { name }));
    if (app.rooms !== this || Date.parse(closes_at) <= app.now()) return undefined;
    const isBusy = document.documentElement.classList.contains("busy");
    return app.notify(t("rooms.closing", { name, time: hour(closes_at) }), isBusy ? undefined : [t("rooms.others"), "/rooms"]);
  }

  /** Lead the user out of a closed room, to the rooms that are open. @param {string} notice */
  async leave(notice) {
    const { app } = this;
    const isLoaded = await this.load();
    // An event that was missed may be about a room that is open again.
    if (app.rooms !== this || (isLoaded && this.find(this.current)?.is_open)) return;
    // After a date the user is asked first whether to stay in touch.
    this.left = app.touch ? notice : "";
    if (this.left) return;
    if (app.router.place() === null) app.go("/rooms");
    app.notify(notice);
  }
}
