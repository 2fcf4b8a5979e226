// Two discs that overlap: the mark of the place, still or circling each other.

import { h } from "../dom.js";

/** @param {boolean} [moving] */
export const orbs = (moving = false) => h("div", { class: `orbs${moving ? " moving" : ""}`, "aria-hidden": "true" }, h("i", {}), h("i", {}), h("b", {}));
