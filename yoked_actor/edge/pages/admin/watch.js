// The operator's WebSocket: sends `watch`, receives `status`, and reconnects when it is lost.

const FIRST_PAUSE_S = 0.5;
const LONGEST_PAUSE_S = 10;
const LEAST_PAUSE_S = new Map([[4009, 5], [4010, 2]]);
/** After this long without a message, the connection counts as lost. */
const SILENCE_S = 20;
export const BAD_TOKEN = 4003;

/** Dispatches `status`, `draining` and `connection` (with the state `live`, `away` or `refused`). */
export class Watch extends EventTarget {
  #socket = null;
  #timer = 0;
  #silence = 0;
  #pause_s = FIRST_PAUSE_S;
  #closed = false;

  /** @param {string} token */
  constructor(token) {
    super();
    this.token = token;
    this.#open();
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
    this.#socket?.close();
  }

  #open() {
    const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/ws`, "yoked.v1");
    this.#socket = socket;
    socket.onopen = () => socket.send(JSON.stringify({ type: "watch", id: "watch", token: this.token }));
    socket.onmessage = ({ data }) => { if (socket === this.#socket) this.#receive(JSON.parse(data)); };
    socket.onclose = ({ code, reason }) => { if (socket === this.#socket) this.#lost(code, reason); };
    this.#restartSilenceTimer();
  }

  #restartSilenceTimer() {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      const socket = this.#socket;
      this.#lost(1006, "no message received");
      socket?.close();
    }, SILENCE_S * 1000);
  }

  #receive(message) {
    this.#restartSilenceTimer();
    if (message.type === "ok") {
      this.#pause_s = FIRST_PAUSE_S;
      this.#dispatch("connection", { state: "live" });
    } else if (message.type === "status" || message.type === "draining") {
      this.#dispatch(message.type, message);
    }
  }

  #lost(code, reason) {
    clearTimeout(this.#silence);
    this.#socket = null;
    if (this.#closed) return;
    if (code === BAD_TOKEN) return this.#dispatch("connection", { state: "refused", reason });
    const retry_in_s = (LEAST_PAUSE_S.get(code) ?? 0) + this.#pause_s * (0.5 + Math.random() / 2);
    this.#pause_s = Math.min(2 * this.#pause_s, LONGEST_PAUSE_S);
    this.#dispatch("connection", { state: "away", retry_in_s });
    this.#timer = setTimeout(() => this.#open(), retry_in_s * 1000);
  }

  #dispatch(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }
}
