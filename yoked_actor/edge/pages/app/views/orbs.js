// The logo: two overlapping discs, still or circling each other.

import { h } from "../dom.js";

export const orbs = () => h("img", { class: "orbs", src: "/app/orbs.svg", alt: "", width: 176, height: 120 });

export const circlingOrbs = () => h("div", { class: "circling", "aria-hidden": "true" }, h("i", {}), h("i", {}));
