// What the server calls things, in words for the operator.

export const TIERS = { 1: "as wished", 2: "wider", 3: "widest", 99: "anybody" };

export const OUTCOMES = {
  both_yes: "Both yes",
  yes_pass: "Yes and pass",
  yes_idle: "Yes, no vote",
  pass_pass: "Both pass",
  pass_idle: "Pass, no vote",
  idle_idle: "No votes",
};

export const CANCELLED = {
  partner_left: "One left",
  partner_lost: "One was lost",
  not_acknowledged: "Not acknowledged",
  blocked: "Blocked",
  server_restart: "Server restart",
};

export const STATUSES = {
  pending: "Waiting",
  in_progress: "Running",
  completed: "Completed",
  failed: "Will be tried again",
  dead_letter: "Dead letter",
  cancelled: "Cancelled",
};

export const CAUSES = {
  failed: "Failed, to be tried again",
  buried: "Failed for good",
  snoozed: "Given back",
  lease_ended: "Its worker was gone",
  cancelled: "Cancelled",
  requeued: "Requeued by hand",
  hurried: "Hurried by hand",
};

const percent = (value) => `${(100 * value).toLocaleString(undefined, { maximumFractionDigits: 2 })} %`;
const whole = (value) => value.toLocaleString(undefined, { maximumFractionDigits: 0 });

const ALERTS = {
  job_failure_rate: ["Too many jobs fail", percent, "Look at the dead letters among the jobs: the last line of their traceback says what is wrong."],
  job_duration_p95: ["Jobs take too long", seconds, "See which type is slow in the metrics, and whether the disk or the processor is busy."],
  job_queue_depth: ["Too many jobs wait", whole, "More jobs are due than are done. A worker beside the server (yoked-actor worker) helps."],
  duplicate_offers: ["Somebody was offered twice", whole, "That must never happen. Verify the run among the offers, and report it as a fault of the program."],
  event_loop_lag: ["The event loop lags", seconds, "The processor is too busy, or something blocks it. People feel this as slowness."],
  commit_failures: ["Commits fail", whole, "The database cannot be written: look at the disk, and at the log for commit_failed."],
  audit_violations: ["The auditor found an impossible state", whole, "A fault of the program. Look at the log for audit_violation, and report it."],
  actor_restarts: ["A part of the server failed", whole, "People meet all the same. The section Now says which part it is, the log says why (actor_failed)."],
  database_lost: ["The database was deleted or replaced", whole, "Nothing is stored any more. Put the file back if it was moved; else restore a backup and restart the server."],
  dead_letter: ["A job was given up", whole, "Look at the job: the last line of its traceback says what is wrong. Requeue it when that is mended, or dismiss it."],
  disk_nearly_full: ["The disk is nearly full", percent, "Make room, or nothing can be stored any more."],
};

/** What names an alert: there may be one about dead letters for each type and kind of error. @param {any} one */
export const alertName = (one) => [one.alert, one.job_type ?? "", one.error_kind ?? ""].join(" ");

/** How far a run has come. @param {{done: number, total: number|null, note: string}} progress */
export const progressWords = ({ done, total, note }) => `${whole(done)}${total === null ? "" : ` of ${whole(total)}`}${note ? `: ${note}` : ""}`;

/** An alert in words. @param {any} one */
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
  cancel_job: "Cancelled job",
  dismiss_job: "Dismissed job",
  requeue_job: "Requeued job",
  requeue_jobs: "Requeued all dead letters of",
  run_offers: "Ran the offers of",
  drain: "Drained the server",
  erase: "Erased",
  export: "Exported",
};

/** What an operator did, in words. @param {string} action */
export const actionWords = (action) => ACTIONS[action] ?? action.replaceAll("_", " ");

/** Seconds, short: 0.8 ms, 120 ms, 12 s, 3 min 5 s, 2 h 4 min. @param {number} value */
export function seconds(value) {
  if (value < 0.9995) return `${(1000 * value).toLocaleString(undefined, { maximumFractionDigits: value < 0.00995 ? 1 : 0 })} ms`;
  if (value < 9.95) return `${value.toLocaleString(undefined, { maximumFractionDigits: 1 })} s`;
  if (value < 60) return `${Math.round(value)} s`;
  const minutes = Math.floor(value / 60);
  return minutes < 60 ? `${minutes} min ${Math.floor(value % 60)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The least change to somebody's own limits that would admit others. @param {any} nearest */
export function relief(nearest) {
  if (!nearest) return "–";
  const change = nearest.unit === "years" ? `${nearest.by} more ${nearest.by === 1 ? "year" : "years"} of age` : `${nearest.by.toLocaleString()} km more`;
  return `${change} would admit ${nearest.gives.toLocaleString()}`;
}

const REFUSALS = {
  unauthorized: "This token is not valid, or has expired. Make a new one.",
  forbidden: "This token is not an operator's: it lacks the role admin.",
  unreachable: "The server cannot be reached.",
  timeout: "The server did not answer in time.",
  rate_limited: "That was a bit fast. Try again in a moment.",
  internal: "The server cannot do this right now. Try again in a moment.",
};

/** A refusal in words. @param {any} error */
export function refusal(error) {
  const detail = String(error?.message ?? "");
  return REFUSALS[error?.code] ?? (detail ? `${detail[0].toUpperCase()}${detail.slice(1)}.`.replace(/\.\.$/, ".") : REFUSALS.internal);
}
