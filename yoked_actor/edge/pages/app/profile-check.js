// Checks a profile before it is sent. The server checks it again.

import { fromKm, number, units } from "./format.js";
import { t } from "./texts.js";

/** The greatest distance that a profile may have. */
export const FURTHEST_KM = 25_000;
export const YEARS = { least: 18, most: 100 };

const between = (value, least, most) => Number.isFinite(value) && value >= least && value <= most;

/** Age in years. @param {string} day */
export function ageOn(day, today = new Date()) {
  const [year, month, date] = day.split("-").map(Number);
  const before = today.getMonth() + 1 < month || (today.getMonth() + 1 === month && today.getDate() < date);
  return today.getFullYear() - year - Number(before);
}

/**
 * Problems by field, as texts for the user; empty if there are none.
 * @param {any} draft
 * @param {string[]} genders
 * @param {number} most_interests
 * @returns {Record<string, string>}
 */
export function check(draft, genders, most_interests) {
  /** @type {Record<string, string>} */
  const problems = {};
  const { location, preferences: wishes } = draft;
  if (!draft.display_name) problems.display_name = t("profile.needsName");
  if (!/^\d{4}-\d\d-\d\d$/.test(draft.birth_date)) problems.birth_date = t("profile.needsBirth");
  else if (ageOn(draft.birth_date) < YEARS.least) problems.birth_date = t("profile.tooYoung");
  else if (ageOn(draft.birth_date) > 130) problems.birth_date = t("profile.checkYear");
  if (!genders.includes(draft.gender)) problems.gender = t("profile.needsGender");
  if (draft.interests.length > most_interests) problems.interests = t("profile.tooMany", { count: draft.interests.length, most: most_interests });
  if (!location) problems.place = t("profile.needsPlace");
  if (wishes.seeking.length === 0) problems.seeking = t("profile.needsSeeking");
  for (const name of ["min_age", "max_age"]) {
    if (!Number.isInteger(wishes[name]) || !between(wishes[name], YEARS.least, YEARS.most)) problems[name] = t("profile.needsAge");
  }
  if (!problems.min_age && !problems.max_age && wishes.min_age > wishes.max_age) problems.max_age = t("profile.agesCross");
  if (!between(wishes.max_distance_km, 1, FURTHEST_KM)) problems.max_distance_km = t("profile.needsDistance", { most: number(Math.floor(fromKm(FURTHEST_KM))), unit: units() });
  return problems;
}

const NAMES = ["display_name", "birth_date", "gender", "location", "time_zone", "interests", "seeking", "min_age", "max_age", "max_distance_km"];

/** The field that an error message of the server is about. @param {string} message */
export function fieldOf(message) {
  if (/must be 18 or older/.test(message)) return "birth_date";
  const found = NAMES.filter((name) => new RegExp(`\\b${name}\\b`).test(message)).at(-1);
  return found === "location" ? "place" : found;
}
