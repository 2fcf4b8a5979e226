// The notice at the top of the page: one at a time, until it is dismissed or replaced.

import { announce, button } from "./dom.js";
import { t } from "./texts.js";

/** Events that a page shows itself: they are only announced to screen readers. */
const ANNOUNCED_ONLY = new Set(["tier", "matched", "voting", "date_started"]);

export class Notices {
  /** @param {any} box the element of the notice */
  constructor(box) { this.box = box; }

  /** Show a text with links. A link has an address, or a function. @param {string} text @param {...([string, string | (() => void)] | undefined)} links */
  show(text, ...links) {
    const { box } = this;
    box.hidden = !text;
    box.replaceChildren(text);
    box.classList.remove("bad");
    for (const link of links) {
      if (link) box.append(" ", typeof link[1] === "string" ? Object.assign(document.createElement("a"), { href: link[1], textContent: link[0] }) : button(link[0], link[1], "link"));
    }
    if (text) {
      box.append(button("×", () => this.show(""), "dismiss", { "aria-label": t("common.dismiss") }));
      announce(text);
    }
  }

  /** @param {string} text */
  showError(text) {
    this.show(text);
    this.box.classList.add("bad");
  }

  /** Tell of an event. @param {any} event @param {string} text */
  tell(event, text) {
    // "Welcome back" must not replace a notice about something that happened meanwhile.
    if (event.reason === "resumed" && !this.box.hidden) return;
    if (ANNOUNCED_ONLY.has(event.type)) {
      if (event.type !== "tier") this.show("");
      return announce(text);
    }
    const links = { nudge: [t("bar.spin"), "/spin"], offers: [t("notice.viewOffers"), "/offers"], connection: [t("notice.viewConnections"), "/connections"] };
    const link = links[event.type];
    // On the page that a notice links to, the user sees the change anyway.
    if (link?.[1] === location.pathname && event.type !== "nudge") announce(text);
    else this.show(text, link);
  }
}
