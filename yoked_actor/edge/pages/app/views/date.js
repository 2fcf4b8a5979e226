// A video date: both videos, the time left, and the ways to end it. The first date begins with a device check.

import { mark } from "../card.js";
import { askToBlock, askToReport } from "../dialogs.js";
import { announce, button, clock, h, heading } from "../dom.js";
import { prefer, preferences } from "../preferences.js";
import { t } from "../texts.js";
import { Call } from "../video.js";
import { levelMeter } from "./check.js";

/** What is shown in place of the partner's video. */
function statusText(call, name, isPolling) {
  if (call.text) return t("date.simulated", { name });
  if (isPolling) return t("date.noSocket");
  if (call.phase === "impossible") return t("date.impossible");
  if (!call.theirs.webrtc) return t("date.theyCannot", { name });
  if (call.phase === "interrupted") return t("date.interrupted");
  if (call.phase === "connected") return call.theirs.camera ? t("date.waitingVideo", { name }) : t("date.theirCameraOff", { name });
  return call.phase === "connecting" ? t("date.connecting", { name }) : t("date.arriving", { name });
}

/** The device check before the first date. @param {any} call @param {string} name @param {() => void} join */
function firstCheck(call, name, join) {
  const meter = levelMeter();
  const go = button(t("check.join"), () => { stop(); prefer({ checked: true }); join(); }, "main");
  const problem = h("p", { class: "hint", role: "status" }, t("check.asking"));
  const preview = h("video", { class: "preview", autoplay: true, playsinline: true, muted: true, "aria-label": t("date.ownVideo") });
  const element = h("div", { class: "panel first-check" }, h("h2", {}, t("check.heading")), h("p", {}, t("check.text", { name })), preview, meter.element, problem, h("div", { class: "actions" }, go));
  const stop = () => { meter.stop(); element.remove(); };
  const ask = async () => {
    await call.openMedia();
    problem.textContent = call.problem;
    if (call.local.getVideoTracks().length === 0) go.textContent = t("check.joinAlone");
    preview.srcObject = call.local;
    meter.listen(call.local);
  };
  return { element, ask, stop };
}

/** @param {any} app */
export function date(app) {
  const { date } = app.snapshot;
  const { partner, date_id } = date;
  const { client } = app;
  const call = new Call(date, (data) => client.signal(date_id, data));
  const name = partner.display_name;
  const isPolling = () => client.status === "polling";

  const remote = h("video", { class: "remote", autoplay: true, playsinline: true, "aria-label": t("date.theirVideo", { name }) });
  const own = h("video", { class: "own", autoplay: true, playsinline: true, "aria-label": t("date.ownVideo"), muted: true });
  const left = h("span", { class: "time-left", role: "timer", "aria-label": t("date.left") });
  const message = h("p", { class: "stage-message" });
  const words = h("p", { class: "stage-words" });
  const cover = h("div", { class: "cover" }, mark(partner, "large"), message, words);
  const muted = h("p", { class: "their-mute", role: "status" });
  const problem = h("p", {});
  const again = button(t("date.again"), () => call.openMedia());
  const trouble = h("div", { class: "trouble", role: "status" }, problem, again);
  const mute = button("", () => call.toggle("audio"), "round");
  const camera = button("", () => call.toggle("video"), "round");
  const sound = button(t("date.sound"), () => { remote.muted = false; sound.hidden = true; remote.play().catch(() => {}); }, "main sound", { hidden: true });
  const end = button(t("date.end"), () => app.attempt(() => client.endDate(date_id)), "danger");
  const stage = h("div", { class: "stage" }, remote, cover, muted, own, sound);
  const check = preferences().checked || isPolling() || !globalThis.RTCPeerConnection ? null : firstCheck(call, name, () => { stage.hidden = false; joined = true; call.start(); show(); heard.splice(0).forEach((data) => call.receive(data)); end.focus(); });
  /** Signals that arrive before the user joins. @type {any[]} */
  const heard = [];
  let joined = check === null;
  let last = "";
  let warned = false;

  // Before the first click on a page, browsers may refuse to play sound, but not muted video.
  const play = () => remote.play().catch(() => {
    if (remote.muted) return;
    remote.muted = true;
    sound.hidden = false;
    remote.play().catch(() => {});
  });
  const label = (element, text, pressed) => {
    element.textContent = text;
    element.setAttribute("aria-pressed", String(pressed));
  };
  const show = () => {
    if (remote.srcObject !== call.remote) remote.srcObject = call.remote;
    if (call.remote.getTracks().length > 0 && remote.paused) play();
    if (own.srcObject !== call.local && call.local.getTracks().length > 0) own.srcObject = call.local;
    own.hidden = call.isOn("video") !== true;
    const seen = call.phase === "connected" && call.theirs.camera && remote.videoWidth > 0;
    cover.classList.toggle("away", seen);
    words.textContent = call.text;
    message.textContent = statusText(call, name, isPolling());
    const mutedText = call.phase === "connected" && !call.theirs.microphone ? t("date.theirMute", { name }) : "";
    if (muted.textContent !== mutedText) muted.textContent = mutedText;
    problem.textContent = call.problem;
    trouble.hidden = !joined || !call.problem || call.phase === "impossible";
    // Before the user has joined, nobody sees or hears anything.
    mute.hidden = !joined || call.isOn("audio") === null;
    camera.hidden = !joined || call.isOn("video") === null;
    label(mute, call.isOn("audio") ? t("date.mute") : t("date.unmute"), call.isOn("audio") === false);
    label(camera, call.isOn("video") ? t("date.cameraOff") : t("date.cameraOn"), call.isOn("video") === false);
    const announced = seen ? t("date.seen", { name }) : `${message.textContent} ${call.text}`;
    if (joined && announced !== last) announce(announced);
    last = announced;
  };
  const tick = () => {
    const seconds = (Date.parse(date.ends_at) - app.now()) / 1000;
    left.textContent = clock(seconds);
    left.classList.toggle("late", seconds < 30);
    if (seconds < 30 && seconds > 0 && !warned) announce(t("date.soon"));
    warned ||= seconds < 30;
  };
  const receive = ({ detail }) => {
    if (detail.date_id !== date_id) return;
    if (joined) call.receive(detail.data);
    else heard.push(detail.data);
  };
  client.addEventListener("signal", receive);
  call.addEventListener("change", show);
  for (const type of ["playing", "resize", "loadeddata"]) remote.addEventListener(type, show);
  const timer = setInterval(tick, 250);
  stage.hidden = !joined;
  return {
    title: t("date.title", { name }),
    count: () => left.textContent,
    root: h("section", { class: "date" },
      h("div", { class: "date-head" }, heading(t("date.heading", { name })), left),
      check?.element, stage, trouble,
      h("div", { class: "controls" }, mute, camera, end,
        h("div", { class: "quiet" }, button(t("common.block"), () => askToBlock(app, partner), "link"), button(t("common.report"), () => askToReport(app, partner, date.match_id), "link")))),
    update() {
      // Each welcome has new credentials for the TURN servers.
      if (app.snapshot?.date) call.date = app.snapshot.date;
      tick();
    },
    opened() {
      show();
      if (joined) call.start(!isPolling());
      else check?.ask();
    },
    close() {
      clearInterval(timer);
      check?.stop();
      client.removeEventListener("signal", receive);
      call.close();
    },
  };
}
