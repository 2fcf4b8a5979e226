// The line at the top of the page that says when the server cannot be reached as usual.

import { t } from "./texts.js";

/** What the line says; empty if all is well. @param {import("/yoked.js").Client|null} client @param {number} retry_in_s */
function connectionText(client, retry_in_s) {
  if (!client) return "";
  const { status } = client;
  if (!navigator.onLine && status !== "closed") return t("connection.offline");
  if (status === "polling") return t("connection.polling");
  const lost = status === "away" || (status === "connecting" && client.snapshot);
  if (!lost) return "";
  return client.snapshot && retry_in_s > 1.5 ? t("connection.lostFor", { seconds: Math.round(retry_in_s) }) : t("connection.lost");
}

/** @param {import("/yoked.js").Client|null} client @param {number} retry_in_s the pause before the next attempt */
export function showConnection(client, retry_in_s) {
  const box = document.getElementById("connection");
  const text = connectionText(client, retry_in_s);
  if (!box) return;
  box.hidden = !text;
  // An unchanged text must not be announced again.
  if (box.textContent !== text) box.textContent = text;
}
