// A call that rings: a dialog over any page, for the user who calls and for the one who is called.

import { chime, reach } from "./attention.js";
import { mark } from "./card.js";
import { open } from "./dialogs.js";
import { button, h } from "./dom.js";
import { preferences } from "./preferences.js";
import { t } from "./texts.js";
import { callNotice } from "./words.js";

const RING_EVERY_MS = 3000;

/** Shows the call of the snapshot, and says how calls end. */
export class Ringing {
  /** @type {any} */ #call = null;
  /** @type {any} */ #dialog = null;
  #timer = 0;

  /** @param {any} app */
  constructor(app) { this.app = app; }

  /** Show the call that rings, if there is one. @param {any} call `call_id`, `partner`, `ring_until`, `incoming` */
  show(call) {
    if ((call?.call_id ?? null) === (this.#call?.call_id ?? null)) return;
    this.#close();
    if (!call) return;
    this.#call = call;
    if (call.incoming) this.#ring(call);
    else this.#wait(call);
  }

  /** The end of a call; returns the notice about it. @param {any} event */
  end({ call_id, reason }) {
    const call = this.#call;
    if (call?.call_id === call_id) this.#close();
    // A call to a busy user ends before it rings.
    const { partner, incoming } = call?.call_id === call_id ? call : { partner: this.app.calling, incoming: false };
    return partner ? callNotice(reason, partner.display_name, incoming) : "";
  }

  #close() {
    clearInterval(this.#timer);
    this.#call = null;
    const dialog = this.#dialog;
    this.#dialog = null;
    dialog?.close();
  }

  #ring(call) {
    const { app } = this;
    const name = call.partner.display_name;
    const answer = (act) => { this.#close(); app.attempt(() => act(call.call_id)); };
    const accept = () => answer((id) => app.client.acceptCall(id));
    const decline = () => answer((id) => app.client.declineCall(id));
    this.#dialog = open(t("call.incoming", { name }),
      [h("div", { class: "caller" }, mark(call.partner, "large")), h("p", {}, t("call.incomingText"), " ", app.snapshot?.state === "waiting" && t("call.leavesLine"))],
      [button(t("call.decline"), decline), button(t("call.accept"), accept, "main", { autofocus: true })],
      // Escape declines: the caller need not wait.
      () => { if (this.#call === call) decline(); });
    reach(t("reach.call", { name }), t("reach.callText"), "call");
    this.#timer = setInterval(() => { if (preferences().sound) chime(); }, RING_EVERY_MS);
  }

  #wait(call) {
    const { app } = this;
    const left = h("p", { class: "hint", role: "timer" });
    const tick = () => { left.textContent = t("call.outgoingText", { seconds: Math.max(0, Math.ceil((Date.parse(call.ring_until) - app.now()) / 1000)) }); };
    const cancel = () => { this.#close(); app.attempt(() => app.client.cancelCall(call.call_id)); };
    this.#dialog = open(t("call.outgoing", { name: call.partner.display_name }), [h("div", { class: "caller calling" }, mark(call.partner, "large")), left],
      [button(t("call.cancel"), cancel, "danger")], () => { if (this.#call === call) cancel(); });
    tick();
    this.#timer = setInterval(tick, 250);
  }
}
