// Saves everything that is stored about the user as a file on the device.

import { t } from "./texts.js";

/** @param {any} app */
export async function download(app) {
  try {
    save("my-data.json", await app.api.exportData());
    app.notify(t("settings.downloaded"));
  } catch (error) {
    if (error.code === "rate_limited") app.notify(t("settings.downloadSoon"));
    else app.showError(error);
  }
}

/** @param {string} name @param {unknown} data saved as JSON */
function save(name, data) {
  const blob = new Blob([JSON.stringify(data, null, 2)], { type: "application/json" });
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
