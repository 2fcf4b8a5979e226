// Reaches a user who looks away: a sound, a message of the browser, and a screen that stays on.

import { preferences } from "./preferences.js";

const NOTES = [[659.25, 0], [880, 0.16], [1108.73, 0.32]];
/** @type {AudioContext|null} */ let audio = null;
/** @type {any} */ let lock = null;
let locking = false;
let wanted = false;

/** Browsers allow sound only after a click: open the sound with the first one. */
export function listenForClicks() {
  const unlock = () => {
    if (!globalThis.AudioContext) return;
    audio ??= new AudioContext();
    if (audio.state === "suspended") audio.resume().catch(() => {});
  };
  for (const type of ["pointerdown", "keydown"]) addEventListener(type, unlock, { capture: true, passive: true });
  document.addEventListener("visibilitychange", () => { if (wanted) stayAwake(true); });
}

/** Play three rising notes. */
export function chime() {
  if (!audio || audio.state !== "running") return;
  for (const [pitch, after_s] of NOTES) {
    const from = audio.currentTime + after_s;
    const tone = new OscillatorNode(audio, { type: "sine", frequency: pitch });
    const volume = new GainNode(audio, { gain: 0 });
    volume.gain.setValueAtTime(0, from);
    volume.gain.linearRampToValueAtTime(0.2, from + 0.02);
    volume.gain.exponentialRampToValueAtTime(0.001, from + 0.4);
    tone.connect(volume).connect(audio.destination);
    tone.start(from);
    tone.stop(from + 0.45);
  }
}

/** Whether the browser can show messages, and whether the user allowed it: "default", "granted", "denied" or "impossible". */
export const permission = () => (globalThis.Notification && isSecureContext ? Notification.permission : "impossible");

/** Ask the user to allow messages. Call it after a click only. */
export async function askPermission() {
  if (permission() === "default") await Notification.requestPermission();
  return permission();
}

/** Call the user: a sound, and a message if the page is hidden. @param {string} title @param {string} body @param {string} tag */
export async function reach(title, body, tag) {
  if (preferences().sound) chime();
  if (!preferences().notifications || permission() !== "granted" || document.visibilityState === "visible") return;
  const options = { body, tag, icon: "/app/icon.svg", requireInteraction: true };
  try {
    const message = new Notification(title, options);
    message.onclick = () => { focus(); message.close(); };
    addEventListener("focus", () => message.close(), { once: true });
  } catch {
    // Phones show messages of service workers only.
    await showByWorker(title, options).catch(() => {});
  }
}

/** @param {string} title @param {any} options */
async function showByWorker(title, options) {
  const registration = await navigator.serviceWorker.register("/app/messages.js");
  const starting = registration.installing ?? registration.waiting;
  // A worker shows nothing before it is active. The first message waits for that.
  if (!registration.active && starting) {
    await new Promise((resume) => {
      starting.addEventListener("statechange", () => { if (["activated", "redundant"].includes(starting.state)) resume(null); });
    });
  }
  await registration.showNotification(title, options);
  const close = async () => {
    if (document.visibilityState !== "visible") return;
    document.removeEventListener("visibilitychange", close);
    for (const message of await registration.getNotifications({ tag: options.tag })) message.close();
  };
  document.addEventListener("visibilitychange", close);
  close();
}

/** Keep the screen on, or let it go off. @param {boolean} on */
export async function stayAwake(on) {
  wanted = on;
  if (!on) {
    lock?.release().catch(() => {});
    lock = null;
    return;
  }
  if (locking || (lock && !lock.released) || document.visibilityState !== "visible") return;
  locking = true;
  try {
    lock = await navigator.wakeLock?.request("screen") ?? null;
    if (!wanted) stayAwake(false);
  } catch {
    // The battery is low, or the browser has no such thing.
  } finally {
    locking = false;
  }
}
