// Runs of the daily offers: seen, started by hand when missed, and verified.

import { button, h, heading } from "/app/dom.js";
import { confirm, label, panel, table, when } from "../parts.js";

const STATUSES = { planned: ["Planned", ""], started: ["Started", "busy"], done: ["Done", "good"], missed: ["Missed", "bad"] };

/** @param {any} app */
export function offersView(app) {
  const place = h("div", {}, h("p", { class: "empty" }, "One moment…"));
  const verdict = h("div", { role: "status" });
  const zone = h("input", { id: "run-zone", placeholder: "Europe/Berlin", autocomplete: "off", spellcheck: "false", required: true });
  const day = h("input", { id: "run-date", type: "date", required: true, value: new Date().toISOString().slice(0, 10) });

  let isUnderWay = false;

  async function load() {
    const found = await app.call("GET", "/api/admin/offers/runs?limit=200");
    if (!found) return;
    isUnderWay = found.runs.some((run) => run.status === "started");
    place.replaceChildren(table("Runs of offers", ["Zone", "Date", "Due", "State", "Job", ""],
      found.runs.map((run) => [run.zone, run.date, when(run.scheduled_at), label(...STATUSES[run.status]),
        run.job_id === null ? "–" : h("a", { href: `#jobs/${run.job_id}` }, String(run.job_id)),
        h("div", { class: "actions" },
          run.status === "missed" ? button("Run", () => start(run.zone, run.date), "small", { "aria-label": `Run ${run.zone}, ${run.date}` }) : null,
          run.status === "done" || run.status === "started" ? button("Verify", () => verify(run.zone, run.date), "small", { "aria-label": `Verify ${run.zone}, ${run.date}` }) : null)]),
      "No run is planned: nobody has a profile yet."));
  }

  async function start(name, date) {
    if (!(await confirm({ title: `Run the offers of ${name}?`, text: `Everybody in that zone who has no offers of ${date} yet gets them now.`, act: "Run" }))) return;
    const run = await app.call("POST", "/api/admin/offers/run", { zone: name, date });
    if (!run) return;
    await load();
    app.tell(run.is_new ? `The run of ${date} in ${name} is started.` : `The run of ${date} in ${name} was there already: it is ${STATUSES[run.status][0].toLowerCase()}. Nothing was done.`);
  }

  async function verify(name, date) {
    verdict.replaceChildren(h("p", { class: "hint" }, `Making the run of ${date} in ${name} again…`));
    const query = new URLSearchParams({ zone: name, date });
    const found = await app.call("GET", `/api/admin/offers/verify?${query}`);
    if (!found) return verdict.replaceChildren();
    const how = found.complete ? "each was made again and compared" : "what they were made from is gone, so each was held against its digest only";
    verdict.replaceChildren(panel(`${name}, ${date}`,
      h("p", {}, label(found.found === 0 ? "As it was made" : `${found.found} found`, found.found === 0 ? "good" : "bad"), ` ${found.sets} ${found.sets === 1 ? "set" : "sets"}: ${how}.`),
      found.found ? table("Findings", ["User", "What is wrong"], found.findings.map((one) => [one.user_id || "the run", one.problem]), "") : null));
    verdict.scrollIntoView({ block: "nearest" });
  }

  const ask = (act) => (event) => {
    event.preventDefault();
    const name = zone.value.trim();
    if (!name || !day.value) return app.tell("Give a zone, as Europe/Berlin, and a date.", "bad");
    act(name, day.value);
  };

  load();
  return {
    title: "Offers",
    root: h("div", { class: "sections" }, heading("Offers"),
      h("p", { class: "lead" }, "Every zone’s run comes by itself in its morning. One that was missed can be run by hand; one that is over can be made again and compared."),
      h("form", { class: "filters", novalidate: true, onsubmit: ask(start) },
        h("div", {}, h("label", { for: "run-zone" }, "Zone"), zone),
        h("div", {}, h("label", { for: "run-date" }, "Date"), day),
        h("button", { class: "small" }, "Run by hand"),
        button("Verify", () => ask(verify)(new Event("submit")), "small")),
      verdict, place),
    update() { if (isUnderWay && !place.contains(document.activeElement)) load(); },
  };
}
