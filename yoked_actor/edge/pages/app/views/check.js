// The device check: see yourself, and a bar that moves with the voice. Nothing is sent.

import { open } from "../dialogs.js";
import { announce, button, h } from "../dom.js";
import { prefer } from "../preferences.js";
import { t } from "../texts.js";
import { capture, mediaProblem } from "../media.js";

const LOUD = 0.05;
/** The samples of 0.1 seconds: a short sound is not missed between two looks. */
const SAMPLES = 8192;

/** A bar that shows how loud a stream is. Call `stop` when it is removed. */
export function levelMeter() {
  const bar = h("meter", { min: 0, max: 1, value: 0, low: LOUD, "aria-label": t("check.level") });
  const heard = h("p", { class: "hint", role: "status" });
  /** @type {AudioContext|null} */ let audio = null;
  let timer = 0;
  const listen = (stream) => {
    if (stream.getAudioTracks().length === 0 || !globalThis.AudioContext) return;
    audio = new AudioContext();
    audio.resume().catch(() => {});
    const analyser = new AnalyserNode(audio, { fftSize: SAMPLES });
    new MediaStreamAudioSourceNode(audio, { mediaStream: stream }).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    timer = setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      const level = samples.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
      bar.value = level;
      if (level > LOUD && !heard.textContent) heard.textContent = t("check.heard");
    }, 100);
  };
  return { element: h("div", { class: "level" }, h("span", { "aria-hidden": "true" }, t("check.level")), bar, heard), listen, stop() { clearInterval(timer); audio?.close().catch(() => {}); } };
}

/** Open the check in a dialog. @param {() => void} done called when the user has seen it */
export function checkDevices(done = () => {}) {
  const own = h("video", { class: "preview", autoplay: true, playsinline: true, muted: true, "aria-label": t("date.ownVideo") });
  const meter = levelMeter();
  const problem = h("p", { class: "hint", role: "status" }, t("check.asking"));
  /** @type {MediaStream|null} */ let stream = null;
  let closed = false;
  const dialog = open(t("check.settings"), [h("p", {}, t("check.textAlone")), own, meter.element, problem],
    [button(t("check.done"), () => { prefer({ checked: true }); done(); dialog.close(); }, "main")], () => {
      closed = true;
      meter.stop();
      stream?.getTracks().forEach((track) => track.stop());
    });
  capture().then((got) => {
    stream = got;
    if (closed) return got.getTracks().forEach((track) => track.stop());
    own.srcObject = got;
    meter.listen(got);
    problem.textContent = mediaProblem(got);
  }).catch((error) => {
    problem.textContent = mediaProblem(error);
    announce(problem.textContent);
  });
}
