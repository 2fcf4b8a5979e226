// Background jobs: list, details, and the actions requeue, cancel and dismiss.

import { button, h, heading } from "/app/dom.js";
import { confirm, facts, fill, label, panel, table, when } from "../parts.js";
import { CAUSES, STATUSES, progressWords } from "../words.js";

const PAGE = 50;
const KINDS = { dead_letter: "bad", failed: "warn", completed: "good", in_progress: "busy" };
const status = (job) => [label(STATUSES[job.status], KINDS[job.status]), job.cancel_asked && job.status === "in_progress" ? label("cancelling", "warn") : null, job.dismissal ? label("dismissed") : null, job.progress && job.status === "in_progress" ? h("span", { class: "note" }, progressWords(job.progress)) : null];
const isDead = (job) => job.status === "dead_letter" || job.status === "cancelled";
const canDismiss = (job) => job.status === "dead_letter" && !job.dismissal;
const canCancel = (job) => ["pending", "failed", "in_progress"].includes(job.status);

async function requeue(app, job, then) {
  const done = await app.call("POST", `/api/admin/jobs/${job.id}/requeue`);
  if (!done) return;
  await then();
  app.notify(`Job ${job.id} is queued again.`);
}

async function cancel(app, job, then) {
  const text = job.status === "in_progress" ? "It is running, and will be stopped. Its changes to the database are rolled back." : "It will not run.";
  if (!(await confirm({ title: `Cancel job ${job.id}?`, text: `${text} It can be requeued later.`, act: "Cancel job" }))) return;
  if (!(await app.call("POST", `/api/admin/jobs/${job.id}/cancel`))) return;
  await then();
  app.notify(`Job ${job.id} is cancelled.`);
}

async function dismiss(app, job, then) {
  const reason = await confirm({ title: `Dismiss job ${job.id}?`, text: "It is kept, but hidden from lists, counts and alerts. It can still be requeued.", act: "Dismiss", ask: "Reason", placeholder: "The zone no longer exists" });
  if (!reason || !(await app.call("POST", `/api/admin/jobs/${job.id}/dismiss`, { reason }))) return;
  await then();
  app.notify(`Job ${job.id} is dismissed.`);
}

const actions = (app, job, then) => app.may("admin") && h("div", { class: "actions" },
  isDead(job) ? button("Requeue", () => requeue(app, job, then), "small", { "aria-label": `Requeue job ${job.id}` }) : null,
  canDismiss(job) ? button("Dismiss", () => dismiss(app, job, then), "small", { "aria-label": `Dismiss job ${job.id}` }) : null,
  canCancel(job) ? button("Cancel", () => cancel(app, job, then), "small danger", { "aria-label": `Cancel job ${job.id}` }) : null);

/** @param {any} app @param {string} wanted the state to select first */
export function jobsView(app, wanted) {
  const place = h("div", { class: "sections" });
  const paused = h("div", { hidden: true });
  const state = h("select", { id: "job-status", onchange: () => load() }, h("option", { value: "" }, "All states"), Object.entries(STATUSES).map(([value, name]) => h("option", { value }, name)), h("option", { value: "dismissed" }, "Dismissed dead letter"));
  const type = h("input", { id: "job-type", placeholder: "offers.user", autocomplete: "off", spellcheck: "false", onchange: () => load() });
  const text = h("input", { id: "job-text", type: "search", maxlength: 200, placeholder: "Europe/Berlin", autocomplete: "off", spellcheck: "false", onchange: () => load() });
  state.value = wanted in STATUSES || wanted === "dismissed" ? wanted : "dead_letter";
  let jobs = [];
  let pauses = [];
  let asked = 0;
  let dead = app.status?.jobs.dead_letter;

  async function load({ more = false } = {}) {
    const mine = ++asked;
    const query = new URLSearchParams({ limit: String(PAGE) });
    if (state.value === "dismissed") query.set("dismissed", "true");
    else if (state.value) query.set("status", state.value);
    if (type.value.trim()) query.set("type", type.value.trim());
    if (text.value.trim()) query.set("text", text.value.trim());
    if (more) query.set("before", String(jobs.at(-1).id));
    const [found, stopped] = await Promise.all([app.call("GET", `/api/admin/jobs?${query}`), app.call("GET", "/api/admin/jobs/pauses")]);
    if (mine !== asked || !found || !stopped) return;
    jobs = more ? [...jobs, ...found.jobs] : found.jobs;
    pauses = stopped.pauses;
    show(found.jobs.length === PAGE);
  }

  /** The actions that are possible for at least one of the jobs that are shown. */
  const bulk = () => (app.may("admin") && state.value !== "dismissed" && jobs.length > 1 ? [
    jobs.some(isDead) ? button("Requeue all", () => changeAll("requeue"), "small") : null,
    jobs.some(canDismiss) ? button("Dismiss all", () => changeAll("dismiss"), "small") : null,
    jobs.some(canCancel) ? button("Cancel all", () => changeAll("cancel"), "small danger") : null] : []);

  function show(isMore) {
    const isFiltered = type.value.trim() || text.value.trim();
    const one = type.value.trim() || (new Set(jobs.map((job) => job.type)).size === 1 ? jobs[0].type : "");
    paused.hidden = pauses.length === 0;
    fill(paused, pauses.map((pause) => h("p", { class: "notice" }, h("strong", {}, pause.type), ` is paused by ${pause.by}, `, when(pause.at), `: ${pause.reason} `, app.may("admin") ? button("Resume", () => resume(pause.type), "small", { "aria-label": `Resume ${pause.type}` }) : null)));
    fill(place,
      table("Jobs", ["Job", "Type", "State", "Attempts", "Due", "Error", ""],
        jobs.map((job) => [h("a", { href: `#jobs/${job.id}` }, String(job.id)), job.type, status(job), String(job.attempts), when(job.scheduled_for), job.last_error ? h("span", { class: "error-line" }, job.last_error) : "–", actions(app, job, load)]),
        state.value === "dead_letter" && !isFiltered ? "No dead letters." : "No jobs found."),
      h("div", { class: "actions" },
        isMore ? button("Show older", () => load({ more: true }), "small") : null,
        bulk(),
        one && app.may("admin") && !pauses.some((pause) => pause.type === one) ? button(`Pause ${one}`, () => pause(one), "small") : null));
  }

  const WORDS = {
    requeue: ["Requeue", "run again from the start. Fix the cause of the failure first.", "queued again"],
    dismiss: ["Dismiss", "are kept, but hidden from lists, counts and alerts.", "dismissed"],
    cancel: ["Cancel", "are cancelled. Jobs that run are stopped.", "cancelled"],
  };

  async function changeAll(action) {
    const [verb, what, done] = WORDS[action];
    const only = { status: state.value || null, type: type.value.trim() || null, text: text.value.trim() || null };
    const filter = [only.status ? `in the state "${STATUSES[only.status]}"` : "", only.type ? `of type ${only.type}` : "", only.text ? `with "${only.text}" in the payload` : ""].filter(Boolean).join(", ");
    const answer = await confirm({ title: `${verb} all of them?`, text: `All jobs ${filter || "of the queue"} for which this is possible ${what}`, act: `${verb} all`, ask: action === "dismiss" ? "Reason" : undefined });
    if (!answer) return;
    const found = await app.call("POST", "/api/admin/jobs/bulk", { action, ...only, reason: answer === true ? null : answer });
    if (!found) return;
    await load();
    app.notify(`${found.changed.toLocaleString()} ${found.changed === 1 ? "job is" : "jobs are"} ${done}.${found.more ? " There are more: repeat it." : ""}`);
  }

  async function pause(kind) {
    const reason = await confirm({ title: `Pause ${kind}?`, text: "No process starts jobs of this type until it is resumed. Jobs that run go on. This outlives a restart.", act: "Pause", ask: "Reason" });
    if (!reason || !(await app.call("POST", "/api/admin/jobs/pause", { type: kind, reason }))) return;
    await load();
    app.notify(`${kind} is paused.`);
  }

  async function resume(kind) {
    if (!(await app.call("POST", "/api/admin/jobs/resume", { type: kind }))) return;
    await load();
    app.notify(`${kind} is resumed.`);
  }

  load();
  return {
    title: "Jobs",
    root: h("div", { class: "sections" }, heading("Jobs"),
      h("form", { class: "filters", onsubmit: (event) => { event.preventDefault(); load(); } },
        h("div", {}, h("label", { for: "job-status" }, "State"), state),
        h("div", {}, h("label", { for: "job-type" }, "Type"), type),
        h("div", {}, h("label", { for: "job-text" }, "Text of the payload"), text),
        h("button", { class: "small" }, "Apply")),
      paused, place),
    update() {
      const now = app.status?.jobs.dead_letter;
      // Refresh the list when the count changes, but not while the operator uses it.
      if (now !== dead && !place.contains(document.activeElement)) {
        dead = now;
        load();
      }
    },
    leave() { asked++; },
  };
}

/** @param {any} app @param {string} id */
export function jobView(app, id) {
  const place = h("div", { class: "sections" }, h("p", { class: "empty" }, "Loading…"));
  const title = `Job ${id}`;
  let job = null;
  let gone = false;

  async function load() {
    const found = await app.call("GET", `/api/admin/jobs/${id}`);
    if (!found || gone) return;
    const changed = JSON.stringify(found) !== JSON.stringify(job);
    job = found;
    if (changed) show();
  }

  function show() {
    fill(place,
      h("div", { class: "headline" }, h("code", {}, job.type), status(job), actions(app, job, load)),
      job.last_error ? panel("Last error", h("pre", { id: "traceback", class: "traceback", tabindex: "0", "aria-label": "Traceback" }, job.last_error.trim())) : null,
      h("div", { class: "charts" },
        panel("Details", facts([["Due", when(job.scheduled_for)], ["Created", when(job.created_at)], ["Started", when(job.started_at)], ["Ended", when(job.completed_at)], ["Attempts", job.max_attempts ? `${job.attempts} of ${job.max_attempts}` : String(job.attempts)], ["Progress", job.progress ? progressWords(job.progress) : null], ["Key", job.key], ["Owner", job.owner], ["Lease until", when(job.lease_until)], ["Priority", String(job.priority)]])),
        panel("Payload", h("pre", { tabindex: "0", "aria-label": "Payload" }, JSON.stringify(job.payload, null, 2)))),
      job.dismissal ? panel("Dismissed", h("p", {}, when(job.dismissal.at), ` by ${job.dismissal.by}: ${job.dismissal.reason}`)) : null,
      job.answers.length ? panel("Responses of the receiver", ...job.answers.toReversed().map((one) => h("details", {},
        h("summary", {}, `${one.status}${one.receiver_id ? ` (${one.receiver_id})` : ""}, `, when(one.at)),
        h("pre", { tabindex: "0", "aria-label": `Response to fence ${one.fence}` }, one.body || "(empty)")))) : null,
      job.history.length ? panel("History", ...job.history.toReversed().map((one) => h("details", {},
        h("summary", {}, `Attempt ${one.attempt}: ${CAUSES[one.cause] ?? one.cause}, `, when(one.ended_at)),
        h("p", { class: "note" }, one.started_at ? ["Started ", when(one.started_at), one.owner ? ` on ${one.owner}` : ""] : one.owner),
        one.error ? h("pre", { class: "traceback", tabindex: "0", "aria-label": `Traceback of attempt ${one.attempt}` }, one.error.trim()) : null))) : null);
  }

  load();
  return {
    title,
    root: h("div", { class: "sections" }, h("p", {}, h("a", { href: "#jobs" }, "← All jobs")), heading(title), place),
    update() { if (job && !["completed", "cancelled"].includes(job.status)) load(); },
    leave() { gone = true; },
  };
}
