// Camera and microphone.

import { t } from "./texts.js";

/** Why there is no camera or microphone. */
const PROBLEMS = { NotAllowedError: "media.blocked", NotFoundError: "media.missing", NotReadableError: "media.busy", insecure: "media.insecure" };
const ABSENT = new Set(["NotFoundError", "NotReadableError", "OverconstrainedError"]);

/** Ask for camera and microphone, or for the one that exists. @returns {Promise<MediaStream>} */
export async function capture() {
  const devices = navigator.mediaDevices;
  if (!devices?.getUserMedia) throw Object.assign(new Error(), { name: "insecure" });
  const video = { width: { ideal: 1280 }, height: { ideal: 720 }, facingMode: "user" };
  try {
    return await devices.getUserMedia({ audio: true, video });
  } catch (error) {
    if (!ABSENT.has(error.name)) throw error;
  }
  return devices.getUserMedia({ audio: true }).catch(() => devices.getUserMedia({ video }));
}

/** What a user cannot do with a stream, or why there is none; empty if all is well. @param {any} got a stream or an error */
export function mediaProblem(got) {
  if (!(got instanceof MediaStream)) return t(PROBLEMS[got?.name] ?? PROBLEMS.NotFoundError);
  if (got.getVideoTracks().length === 0) return t("media.noCamera");
  return got.getAudioTracks().length === 0 ? t("media.noMicrophone") : "";
}
