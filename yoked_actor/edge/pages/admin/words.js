// Texts for values that the server reports.

export const TIERS = { 1: "exact", 2: "wider", 3: "widest", 99: "anyone" };

export const OUTCOMES = {
  both_yes: "Both yes",
  yes_pass: "Yes and pass",
  yes_idle: "Yes, no vote",
  pass_pass: "Both pass",
  pass_idle: "Pass, no vote",
  idle_idle: "No votes",
};

export const STATUSES = {
  pending: "Pending",
  in_progress: "Running",
  completed: "Completed",
  failed: "Failed, will be retried",
  dead_letter: "Dead letter",
  cancelled: "Cancelled",
};

export const CAUSES = {
  failed: "Failed, will be retried",
  dead_lettered: "Failed permanently",
  snoozed: "Released",
  lease_ended: "Lease expired",
  cancelled: "Cancelled",
  requeued: "Requeued by an operator",
  retried: "Retried early by an operator",
};

const percent = (value) => `${(100 * value).toLocaleString(undefined, { maximumFractionDigits: 2 })}\u00a0%`;
const whole = (value) => value.toLocaleString(undefined, { maximumFractionDigits: 0 });

const ALERTS = {
  job_failure_rate: ["Job failure rate is high", percent, "See the dead letters under Jobs: the last line of the traceback is the error."],
  job_duration_p95: ["Jobs are slow", seconds, "See the metrics for the slow job type, and check whether the disk or the CPU is busy."],
  job_queue_depth: ["Job queue is long", whole, "Jobs become due faster than they run. A second process helps: yoked-actor worker."],
  duplicate_offers: ["Duplicate offers", whole, "A user was offered the same person twice. This is a bug: verify the run under Offers, and report it."],
  event_loop_lag: ["Event loop lag", seconds, "The CPU is overloaded, or something blocks the event loop. Users notice slow responses."],
  commit_failures: ["Commits fail", whole, "The database cannot be written. Check the disk, and the log for commit_failed."],
  audit_violations: ["Invariant violated", whole, "The auditor found an inconsistent state. This is a bug: see audit_violation in the log, and report it."],
  actor_restarts: ["A part of the server failed", whole, "Matching still works. Section Now shows the part; the log shows the cause (actor_failed)."],
  database_lost: ["Database file deleted or replaced", whole, "Nothing is stored. Move the file back, or restore a backup and restart the server."],
  dead_letter: ["A job failed permanently", whole, "The last line of its traceback is the error. Fix the cause and requeue the job, or dismiss it."],
  disk_nearly_full: ["Disk is nearly full", percent, "Free some space. When the disk is full, nothing can be stored."],
};

/** The key of an alert: there may be a dead letter alert for each job type and kind of error. @param {any} one */
export const alertName = (one) => [one.alert, one.job_type ?? "", one.error_kind ?? ""].join(" ");

/** The progress of a run. @param {{done: number, total: number|null, note: string}} progress */
export const progressWords = ({ done, total, note }) => `${whole(done)}${total === null ? "" : ` of ${whole(total)}`}${note ? `: ${note}` : ""}`;

/** The texts of an alert. @param {any} one */
export function alertWords({ alert, value, limit, job_type, error_kind }) {
  const [name, show, advice] = ALERTS[alert] ?? [alert.replaceAll("_", " "), String, ""];
  const title = job_type ? `${name}: ${job_type} (${error_kind.replaceAll("_", " ")})` : name;
  return { title, value: show(value), limit: show(limit), advice };
}

const ACTIONS = {
  suspend: "Suspended",
  unsuspend: "Lifted the suspension of",
  resolve_report: "Closed report",
  block: "Blocked for",
  warn: "Warned",
  appeal: "Appealed:",
  end_match: "Ended match",
  pause_jobs: "Paused jobs of type",
  resume_jobs: "Resumed jobs of type",
  bulk_jobs: "Changed jobs",
  cancel_job: "Cancelled job",
  dismiss_job: "Dismissed job",
  requeue_job: "Requeued job",
  requeue_jobs: "Requeued all dead letters of",
  run_offers: "Ran the offers of",
  refreeze_offers: "Refroze the offers of",
  add_room: "Added room",
  change_room: "Changed room",
  remove_room: "Removed room",
  drain: "Drained the server",
  erase: "Erased",
  export: "Exported",
};

/** The text of an operator's action. @param {string} action */
export const actionWords = (action) => ACTIONS[action] ?? action.replaceAll("_", " ");

/** Seconds, short: 0.8 ms, 120 ms, 12 s, 3 min 5 s, 10 min, 2 h 4 min. @param {number} value */
export function seconds(value) {
  if (value < 0.9995) return `${(1000 * value).toLocaleString(undefined, { maximumFractionDigits: value < 0.00995 ? 1 : 0 })} ms`;
  if (value < 9.95) return `${value.toLocaleString(undefined, { maximumFractionDigits: 1 })} s`;
  if (value < 60) return `${Math.round(value)} s`;
  const minutes = Math.floor(value / 60);
  const [large, small] = minutes < 60 ? [`${minutes} min`, `${Math.floor(value % 60)} s`] : [`${Math.floor(minutes / 60)} h`, `${minutes % 60} min`];
  return small.startsWith("0 ") ? large : `${large} ${small}`;
}

/** The smallest change to a user's own limits that would allow a match. @param {any} nearest */
export function relief(nearest) {
  if (!nearest) return "–";
  const change = nearest.unit === "years" ? `age range ${nearest.by} ${nearest.by === 1 ? "year" : "years"} wider` : `distance ${nearest.by.toLocaleString()} km more`;
  return `${change}: ${nearest.gives.toLocaleString()} possible`;
}

const REFUSALS = {
  unauthorized: "This token is invalid or has expired. Create a new one.",
  unreachable: "Cannot reach the server.",
  timeout: "The server did not respond in time.",
  rate_limited: "Too many requests. Try again in a moment.",
  internal: "The server cannot do this right now. Try again in a moment.",
};

/** Why the server refused a call, as a text. @param {any} error */
export function refusal(error) {
  const detail = String(error?.message ?? "");
  return REFUSALS[error?.code] ?? (detail ? `${detail[0].toUpperCase()}${detail.slice(1)}.`.replace(/\.\.$/, ".") : REFUSALS.internal);
}
