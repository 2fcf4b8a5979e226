// A video date: both videos, the time left, and the ways to end it.

import { mark } from "../card.js";
import { askToBlock, askToReport } from "../dialogs.js";
import { announce, button, clock, h, heading } from "../dom.js";
import { Call } from "../video.js";

/** @param {any} app */
export function date(app) {
  const { date } = app.snapshot;
  const { partner, date_id } = date;
  const { client } = app;
  const call = new Call(date, (data) => client.signal(date_id, data));
  const name = partner.display_name;

  const remote = h("video", { class: "remote", autoplay: true, playsinline: true, "aria-label": `Video of ${name}` });
  const own = h("video", { class: "own", autoplay: true, playsinline: true, "aria-label": "Your own video", muted: true });
  const left = h("span", { class: "time-left", role: "timer", "aria-label": "Time left" });
  const message = h("p", { class: "stage-message" });
  const words = h("p", { class: "stage-words" });
  const cover = h("div", { class: "cover" }, mark(partner, "large"), message, words);
  const problem = h("p", {});
  const again = button("Try the camera again", () => call.openMedia());
  const trouble = h("div", { class: "trouble", role: "status" }, problem, again);
  const mute = button("", () => call.toggle("audio"), "round");
  const camera = button("", () => call.toggle("video"), "round");
  const sound = button("Turn on sound", () => { remote.muted = false; sound.hidden = true; remote.play().catch(() => {}); }, "main sound", { hidden: true });
  const end = button("End date", () => app.attempt(() => client.endDate(date_id)), "danger");
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
  const status = () => {
    if (call.text) return `${name} is a simulated person and writes instead of using video.`;
    if (call.phase === "impossible") return "Your browser doesn't support video calls. The date goes on until one of you ends it.";
    if (!call.theirs.webrtc) return `${name}'s browser doesn't support video calls.`;
    if (call.phase === "interrupted") return "The video was interrupted. Reconnecting…";
    if (call.phase === "connected") return call.theirs.camera ? `Waiting for ${name}'s video…` : `${name}'s camera is off.`;
    return call.phase === "connecting" ? `Connecting to ${name}…` : `Waiting for ${name} to arrive…`;
  };
  const show = () => {
    if (remote.srcObject !== call.remote) remote.srcObject = call.remote;
    if (call.remote.getTracks().length > 0 && remote.paused) play();
    if (own.srcObject !== call.local && call.local.getTracks().length > 0) own.srcObject = call.local;
    own.hidden = call.isOn("video") !== true;
    const seen = call.phase === "connected" && call.theirs.camera && remote.videoWidth > 0;
    cover.classList.toggle("away", seen);
    words.textContent = call.text;
    message.textContent = status();
    problem.textContent = call.problem;
    trouble.hidden = !call.problem || call.phase === "impossible";
    mute.hidden = call.isOn("audio") === null;
    camera.hidden = call.isOn("video") === null;
    label(mute, call.isOn("audio") ? "Mute" : "Unmute", call.isOn("audio") === false);
    label(camera, call.isOn("video") ? "Camera off" : "Camera on", call.isOn("video") === false);
    const announced = seen ? `You can see ${name}.` : `${message.textContent} ${call.text}`;
    if (announced !== last) announce(announced);
    last = announced;
  };
  const tick = () => {
    const seconds = (Date.parse(date.ends_at) - app.now()) / 1000;
    left.textContent = clock(seconds);
    left.classList.toggle("late", seconds < 30);
    if (seconds < 30 && seconds > 0 && !warned) announce("30 seconds left");
    warned ||= seconds < 30;
  };
  const receive = ({ detail }) => { if (detail.date_id === date_id) call.receive(detail.data); };
  client.addEventListener("signal", receive);
  call.addEventListener("change", show);
  for (const type of ["playing", "resize", "loadeddata"]) remote.addEventListener(type, show);
  const timer = setInterval(tick, 250);
  return {
    title: `On a date with ${name}`,
    root: h("section", { class: "date" },
      h("div", { class: "date-head" }, heading(`You and ${name}`), left),
      h("div", { class: "stage" }, remote, cover, own, sound), trouble,
      h("div", { class: "controls" }, mute, camera, end,
        h("div", { class: "quiet" }, button("Block", () => askToBlock(app, partner), "link"), button("Report", () => askToReport(app, partner), "link")))),
    update() {
      // Each welcome has new credentials for the TURN servers.
      if (app.snapshot?.date) call.date = app.snapshot.date;
      tick();
    },
    opened() { show(); call.start(); },
    close() {
      clearInterval(timer);
      client.removeEventListener("signal", receive);
      call.close();
      document.querySelector("dialog[open]")?.close();
    },
  };
}
