// The call of a date: camera, microphone, and a peer connection that is negotiated through the
// server's `signal` ("perfect negotiation": the initiator is the impolite peer).
//
// Every message has `peer`, an ID that a page creates for each call. When the partner reloads the page,
// messages with a new `peer` arrive, and the call starts over. Messages for an earlier `peer` are dropped.

import { capture, mediaProblem } from "./media.js";

/** Codecs that all browsers support. A description with all codecs would be too large for a signal. */
const CODECS = new Set(["video/vp8", "video/rtx", "audio/opus"]);
const H264 = /profile-level-id=42e01f/;
const CANDIDATES_EVERY_MS = 60;
const AGAIN_AFTER_MS = 1000;

/** The call of one date. Dispatches `change` when something visible has changed. */
export class Call extends EventTarget {
  /** @type {RTCPeerConnection|null} */ #pc = null;
  /** @type {string|null} */ #partner = null;
  #making = false;
  #ignoring = false;
  #closed = false;
  /** Nothing is sent before the user joins. */
  #joined = false;
  #queue = Promise.resolve();
  /** @type {any[]} */ #candidates = [];
  #peer = crypto.randomUUID();

  /** @param {any} date the date of the snapshot @param {(data: any) => Promise<any>} send */
  constructor(date, send) {
    super();
    this.date = date;
    this.send = send;
    /** @type {"waiting"|"connecting"|"connected"|"interrupted"|"impossible"} */
    this.phase = "waiting";
    /** Why this user cannot be seen or heard. */
    this.problem = "";
    this.local = new MediaStream();
    this.remote = new MediaStream();
    this.opening = true;
    /** What the partner sends, as last announced by their page. */
    this.theirs = { camera: true, microphone: true, webrtc: true };
    /** Text of a simulated partner (demo). */
    this.text = "";
  }

  /** Join the call; `possible` is false if signals cannot be sent. */
  async start(possible = true) {
    this.#joined = possible;
    if (!globalThis.RTCPeerConnection || !possible) {
      this.phase = "impossible";
      this.opening = false;
      this.#sendMedia();
      return this.#changed();
    }
    this.#build();
    this.#send({ kind: "join" });
    // After a device check, camera and microphone are open already.
    if (this.local.getTracks().length === 0) await this.openMedia();
    else this.#sendMedia();
  }

  /** Ask for camera and microphone, or for the one that exists. */
  async openMedia() {
    this.opening = true;
    this.problem = "";
    this.#changed();
    try {
      const stream = await capture();
      for (const track of stream.getTracks()) this.#closed ? track.stop() : this.local.addTrack(track);
      if (!this.#closed) this.problem = mediaProblem(stream);
    } catch (error) {
      this.problem = mediaProblem(error);
    }
    this.opening = false;
    if (this.#closed) return;
    this.#attach();
    this.#sendMedia();
    this.#changed();
  }

  /** Whether the local track of a kind is on; null if there is none. @param {"audio"|"video"} kind */
  isOn(kind) {
    const track = this.local.getTracks().find((one) => one.kind === kind);
    return track ? track.enabled : null;
  }

  /** @param {"audio"|"video"} kind */
  toggle(kind) {
    for (const track of this.local.getTracks()) if (track.kind === kind) track.enabled = !track.enabled;
    this.#sendMedia();
    this.#changed();
  }

  close() {
    this.#closed = true;
    this.#pc?.close();
    this.#pc = null;
    for (const track of this.local.getTracks()) track.stop();
  }

  // The connection

  #build() {
    this.#pc?.close();
    const pc = new RTCPeerConnection({ iceServers: this.date.ice_servers ?? [] });
    this.#pc = pc;
    this.#making = this.#ignoring = false;
    this.remote = new MediaStream();
    const only = (act) => (event) => { if (pc === this.#pc) act(event); };
    pc.onnegotiationneeded = only(() => this.#offer(pc));
    pc.onicecandidate = only(({ candidate }) => this.#candidate(pc, candidate));
    this.#candidates = [];
    pc.ontrack = only(({ track }) => { this.remote.addTrack(track); this.#changed(); });
    pc.onconnectionstatechange = only(() => this.#connection(pc));
  }

  // Candidates come in bursts, and the server limits the rate of signals: send them in batches.
  #candidate(pc, candidate) {
    if (!candidate || this.#candidates.push(candidate.toJSON()) > 1) return;
    setTimeout(() => {
      if (pc === this.#pc) this.#send({ kind: "candidates", candidates: this.#candidates.splice(0) });
    }, CANDIDATES_EVERY_MS);
  }

  #connection(pc) {
    const phase = { connecting: "connecting", connected: "connected", disconnected: "interrupted", failed: "interrupted" }[pc.connectionState];
    if (phase) this.phase = phase;
    if (pc.connectionState === "failed") pc.restartIce();
    this.#changed();
  }

  async #offer(pc) {
    try {
      this.#making = true;
      await pc.setLocalDescription();
      this.#send({ kind: "description", description: pc.localDescription });
    } catch (error) {
      console.warn("creating an offer failed", error);
    } finally {
      this.#making = false;
    }
  }

  #prefer(transceiver) {
    const { codecs } = RTCRtpReceiver.getCapabilities?.(transceiver.receiver.track.kind) ?? { codecs: [] };
    const common = codecs.filter(({ mimeType, sdpFmtpLine = "" }) => CODECS.has(mimeType.toLowerCase()) || (mimeType === "video/H264" && H264.test(sdpFmtpLine)));
    if (common.length > 0) transceiver.setCodecPreferences?.(common);
  }

  /** Attach the local tracks to the connection. This needs no new negotiation. */
  #attach() {
    for (const { sender, receiver } of this.#pc?.getTransceivers() ?? []) {
      const track = this.local.getTracks().find((one) => one.kind === receiver.track.kind) ?? null;
      if (sender.track !== track) sender.replaceTrack(track).catch(() => {});
    }
  }

  // Signals

  #send(message) {
    if (this.#joined && !this.#closed) this.#transmit({ ...message, peer: this.#peer, to: this.#partner ?? undefined });
  }

  #transmit(data) {
    this.send(data).catch((error) => {
      if (error.code === "rate_limited" || error.code === "timeout") setTimeout(() => { if (!this.#closed) this.#transmit(data); }, AGAIN_AFTER_MS);
      // The end of the date or of the connection is reported by an event of its own.
      else if (error.code !== "not_found" && error.code !== "connection_lost") console.warn("a signal was refused", error.code, error.message);
    });
  }

  #sendMedia() {
    this.#send({ kind: "media", camera: this.isOn("video") === true, microphone: this.isOn("audio") === true, webrtc: this.phase !== "impossible" });
  }

  /** Process a signal from the partner. Signals are processed in order. @param {any} data */
  receive(data) {
    this.#queue = this.#queue.then(() => this.#process(data)).catch((error) => console.warn("a signal could not be processed", error));
  }

  async #process(data) {
    if (this.#closed || data === null || typeof data !== "object") return;
    if (data.kind === "demo") {
      this.text = String(data.text ?? "");
      return this.#changed();
    }
    if (data.to !== undefined && data.to !== this.#peer) return;
    this.#meet(String(data.peer ?? ""), data);
    const pc = this.#pc;
    if (data.kind === "media") this.theirs = { camera: Boolean(data.camera), microphone: Boolean(data.microphone), webrtc: Boolean(data.webrtc) };
    else if (data.kind === "description" && pc) await this.#described(pc, data.description);
    else if (data.kind === "candidates" && pc) for (const one of data.candidates) await pc.addIceCandidate(one).catch((error) => { if (!this.#ignoring) throw error; });
    this.#changed();
  }

  #meet(peer, data) {
    const before = this.#partner;
    this.#partner = peer;
    // A "join" without `to` means that the partner does not know our `peer` yet.
    if (data.kind === "join" && data.to === undefined) {
      if (this.#pc) this.#send({ kind: "join" });
      this.#sendMedia();
    }
    if (peer === before || !this.#pc) return;
    if (before !== null) this.#build();
    if (this.phase === "waiting" || before !== null) this.phase = "connecting";
    if (!this.date.initiator) return;
    for (const kind of ["audio", "video"]) this.#prefer(this.#pc.addTransceiver(kind, { direction: "sendrecv" }));
    this.#attach();
  }

  async #described(pc, description) {
    const collision = description.type === "offer" && (this.#making || pc.signalingState !== "stable");
    this.#ignoring = this.date.initiator && collision;
    if (this.#ignoring) return;
    await pc.setRemoteDescription(description);
    if (description.type !== "offer") return;
    for (const transceiver of pc.getTransceivers()) {
      transceiver.direction = "sendrecv";
      this.#prefer(transceiver);
    }
    this.#attach();
    await pc.setLocalDescription();
    this.#send({ kind: "description", description: pc.localDescription });
  }

  #changed() { this.dispatchEvent(new Event("change")); }
}
