// Checks a profile before it is sent. The server checks it again.

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
  if (!draft.display_name) problems.display_name = "Enter the name others will see.";
  if (!/^\d{4}-\d\d-\d\d$/.test(draft.birth_date)) problems.birth_date = "Enter your date of birth.";
  else if (ageOn(draft.birth_date) < YEARS.least) problems.birth_date = "You must be 18 or older to use Yoked.";
  else if (ageOn(draft.birth_date) > 130) problems.birth_date = "Check the year.";
  if (!genders.includes(draft.gender)) problems.gender = "Choose one.";
  if (draft.interests.length > most_interests) problems.interests = `You have ${draft.interests.length} interests. The maximum is ${most_interests}.`;
  if (!between(location.lat, -90, 90)) problems.lat = "Enter a latitude from -90 to 90.";
  if (!between(location.lon, -180, 180)) problems.lon = "Enter a longitude from -180 to 180.";
  if (wishes.seeking.length === 0) problems.seeking = "Choose at least one.";
  for (const name of ["min_age", "max_age"]) {
    if (!Number.isInteger(wishes[name]) || !between(wishes[name], YEARS.least, YEARS.most)) problems[name] = "Enter a whole number from 18 to 100.";
  }
  if (!problems.min_age && !problems.max_age && wishes.min_age > wishes.max_age) problems.max_age = "This can't be lower than the minimum age.";
  if (!between(wishes.max_distance_km, 1, 25_000)) problems.max_distance_km = "Enter a distance from 1 to 25000 km.";
  return problems;
}

const NAMES = ["display_name", "birth_date", "gender", "lat", "lon", "time_zone", "interests", "seeking", "min_age", "max_age", "max_distance_km"];

/** The field that an error message of the server is about. @param {string} message */
export function fieldOf(message) {
  if (/must be 18 or older/.test(message)) return "birth_date";
  return NAMES.filter((name) => new RegExp(`\\b${name}\\b`).test(message)).at(-1);
}
