// A ring that empties until a time on the server's clock.

import { announce, clock, h } from "./dom.js";
import { t } from "./texts.js";

const RADIUS = 52;
const LENGTH = 2 * Math.PI * RADIUS;
/** Seconds left at which screen readers get an announcement. */
const ANNOUNCED_AT = new Set([5, 3]);

/** A countdown ring. Put `element` on the page, and call `stop` when it is removed. */
export class Countdown {
  #timer = 0;
  #until = 0;
  #length_ms = 1;
  #last = -1;

  /** @param {() => number} now the server's time in milliseconds @param {string} label */
  constructor(now, label) {
    this.now = now;
    this.arc = h("circle", { class: "ring-arc", cx: 60, cy: 60, r: RADIUS, "stroke-dasharray": LENGTH.toFixed(2), "stroke-dashoffset": 0 });
    this.digits = h("span", { class: "ring-digits" });
    this.element = h("div", { class: "ring", role: "timer", "aria-label": label },
      h("svg", { viewBox: "0 0 120 120", "aria-hidden": "true" }, h("circle", { class: "ring-track", cx: 60, cy: 60, r: RADIUS }), this.arc),
      this.digits);
  }

  /** Run until `iso`. The full ring is `length_ms`. @param {string} iso @param {number} length_ms @param {boolean} announced */
  run(iso, length_ms, announced) {
    this.#until = Date.parse(iso);
    this.#length_ms = Math.max(1, length_ms);
    this.#last = -1;
    this.stop();
    const reduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const tick = () => this.#show(reduced, announced);
    this.#timer = setInterval(tick, reduced ? 250 : 50);
    tick();
  }

  stop() { clearInterval(this.#timer); }

  /** The digits that are shown; empty before the countdown runs. */
  get left() { return this.digits.textContent; }

  #show(reduced, announced) {
    const left_ms = Math.max(0, this.#until - this.now());
    const whole = Math.ceil(left_ms / 1000);
    const shown_ms = reduced ? whole * 1000 : left_ms;
    const share = Math.min(1, shown_ms / this.#length_ms);
    this.arc.setAttribute("stroke-dashoffset", (LENGTH * (1 - share)).toFixed(2));
    if (whole === this.#last) return;
    this.digits.textContent = this.#length_ms > 60_000 ? clock(left_ms / 1000) : String(whole);
    this.element.classList.toggle("late", whole <= 3);
    if (announced && this.#last !== -1 && ANNOUNCED_AT.has(whole)) announce(t("voting.secondsLeft", { seconds: whole }));
    this.#last = whole;
  }
}
