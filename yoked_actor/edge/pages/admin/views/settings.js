// The settings in use, and where each comes from. Secrets never reach this page.

import { h, heading } from "/app/dom.js";
import { fill, label, table } from "../parts.js";

/** A value as text. @param {any} value */
function text(value) {
  if (value === null || value === "" || (Array.isArray(value) && value.length === 0)) return h("span", { class: "note" }, "(empty)");
  if (typeof value === "boolean") return value ? "on" : "off";
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value === "object") return Object.keys(value).length === 0 ? h("span", { class: "note" }, "(empty)") : h("code", {}, Object.entries(value).map(([name, inner]) => `${name}: ${Object.entries(inner).filter(([, one]) => one !== null).map(([key, one]) => `${key} ${one}`).join(", ")}`).join("; "));
  return typeof value === "number" ? value.toLocaleString(undefined, { maximumFractionDigits: 6, useGrouping: false }) : String(value);
}

/** @param {any} app */
export function settingsView(app) {
  const place = h("div", { class: "sections" }, h("p", { class: "empty" }, "Loading…"));
  const search = h("input", { id: "setting-search", type: "search", autocomplete: "off", spellcheck: "false", placeholder: "liveness", oninput: () => show() });
  const changed = h("input", { id: "setting-changed", type: "checkbox", onchange: () => show() });
  let settings = [];
  let gone = false;

  async function load() {
    const found = await app.call("GET", "/api/admin/settings");
    if (!found || gone) return;
    settings = found.settings;
    show();
  }

  function show() {
    const wanted = search.value.trim().toLowerCase();
    const shown = settings.filter((one) => (!changed.checked || one.source !== "default") && (!wanted || `${one.name} ${one.description}`.toLowerCase().includes(wanted)));
    fill(place, table("Settings", ["Setting", "Value", "From", "Meaning"],
      shown.map((one) => [
        h("code", {}, one.name), [text(one.value), one.source !== "default" ? h("span", { class: "note" }, "default: ", text(one.default)) : null],
        [one.source === "default" ? h("span", { class: "note" }, "default") : label(one.source, "busy"), one.reloads ? null : h("span", { class: "note" }, "needs a restart")],
        h("span", { class: "meaning" }, one.description)]), "No such setting."));
  }

  load();
  return {
    title: "Settings",
    root: h("div", { class: "sections" }, heading("Settings"), h("p", { class: "lead" }, "The values in use. A reload (SIGHUP) changes those that need no restart. Secrets are hidden."),
      h("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
        h("div", {}, h("label", { for: "setting-search" }, "Name or meaning"), search),
        h("p", { class: "check" }, changed, h("label", { for: "setting-changed" }, "Only changed ones"))),
      place),
    leave() { gone = true; },
  };
}
