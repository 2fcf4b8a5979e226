// Runs of the daily offers: list, start a missed run, verify a stored run.

import { button, h, heading } from "/app/dom.js";
import { confirm, label, panel, table, when } from "../parts.js";

const STATUSES = { planned: ["Planned", ""], started: ["Started", "busy"], done: ["Done", "good"], missed: ["Missed", "bad"] };

/** @param {any} app */
export function offersView(app) {
  const place = h("div", {}, h("p", { class: "empty" }, "Loading…"));
  const verdict = h("div", { role: "status" });
  const zone = h("input", { id: "run-zone", placeholder: "Europe/Berlin", autocomplete: "off", spellcheck: "false", required: true });
  const day = h("input", { id: "run-date", type: "date", required: true, value: new Date().toISOString().slice(0, 10) });

  let isRunning = false;

  async function load() {
    const found = await app.call("GET", "/api/admin/offers/runs?limit=200");
    if (!found) return;
    isRunning = found.runs.some((run) => run.status === "started");
    place.replaceChildren(table("Offer runs", ["Zone", "Date", "Due", "State", "Job", ""],
      found.runs.map((run) => [run.zone, run.date, when(run.scheduled_at), label(...STATUSES[run.status]),
        run.job_id === null ? "–" : h("a", { href: `#jobs/${run.job_id}` }, String(run.job_id)),
        h("div", { class: "actions" },
          run.status === "missed" && app.may("admin") ? button("Run", () => start(run.zone, run.date), "small", { "aria-label": `Run ${run.zone}, ${run.date}` }) : null,
          run.status === "done" || run.status === "started" ? button("Verify", () => verify(run.zone, run.date), "small", { "aria-label": `Verify ${run.zone}, ${run.date}` }) : null)]),
      "No runs planned: there are no profiles yet."));
  }

  async function start(name, date) {
    if (!(await confirm({ title: `Run the offers of ${name}?`, text: `Users in this zone who have no offers for ${date} get them now.`, act: "Run" }))) return;
    const run = await app.call("POST", "/api/admin/offers/run", { zone: name, date });
    if (!run) return;
    await load();
    app.notify(run.is_new ? `The run of ${date} in ${name} has started.` : `The run of ${date} in ${name} already exists: it is ${STATUSES[run.status][0].toLowerCase()}. Nothing was changed.`);
  }

  async function verify(name, date) {
    verdict.replaceChildren(h("p", { class: "hint" }, `Computing the run of ${date} in ${name} again…`));
    const query = new URLSearchParams({ zone: name, date });
    const found = await app.call("GET", `/api/admin/offers/verify?${query}`);
    if (!found) return verdict.replaceChildren();
    const compared = found.complete ? "computed again and compared" : "the pool was deleted, so only the digests were compared";
    verdict.replaceChildren(panel(`${name}, ${date}`,
      h("p", {}, label(found.found === 0 ? "No differences" : `Differences: ${found.found}`, found.found === 0 ? "good" : "bad"), ` ${found.sets} ${found.sets === 1 ? "set" : "sets"}: ${compared}.`),
      found.found ? table("Differences", ["User", "Problem"], found.findings.map((one) => [one.user_id || "(run)", one.problem]), "") : null));
    verdict.scrollIntoView({ block: "nearest" });
  }

  const ask = (act) => (event) => {
    event.preventDefault();
    const name = zone.value.trim();
    if (!name || !day.value) return app.notify("Enter a zone, such as Europe/Berlin, and a date.", "bad");
    act(name, day.value);
  };

  load();
  return {
    title: "Offers",
    root: h("div", { class: "sections" }, heading("Offers"),
      h("p", { class: "lead" }, "The run of each zone starts automatically in the morning. A missed run can be started here. A stored run can be verified: it is computed again and compared."),
      h("form", { class: "filters", novalidate: true, onsubmit: ask(app.may("admin") ? start : verify) },
        h("div", {}, h("label", { for: "run-zone" }, "Zone"), zone),
        h("div", {}, h("label", { for: "run-date" }, "Date"), day),
        app.may("admin") ? h("button", { class: "small" }, "Run now") : null,
        button("Verify", () => ask(verify)(new Event("submit")), "small")),
      verdict, place),
    update() { if (isRunning && !place.contains(document.activeElement)) load(); },
  };
}
