// Distances, dates and times as people write them in the language and region of the page.

import { preferences } from "./preferences.js";
import { language, locale } from "./texts.js";

const KM_PER_MILE = 1.609344;
/** Regions where people measure roads in miles. */
const MILES = new Set(["US", "GB", "LR", "MM"]);

/** "km" or "mi": as chosen, or as usual in the region of the browser. @returns {"km"|"mi"} */
export function units() {
  const { units } = preferences();
  if (units === "km" || units === "mi") return units;
  const region = new Intl.Locale(navigator.language || "en").maximize().region ?? "";
  return MILES.has(region) ? "mi" : "km";
}

/** Kilometres in the user's unit. @param {number} km */
export const fromKm = (km) => (units() === "mi" ? km / KM_PER_MILE : km);

/** The user's unit in kilometres. @param {number} value */
export const toKm = (value) => (units() === "mi" ? value * KM_PER_MILE : value);

/** "within 25 km" stays true in miles: rounded up. @param {number} km */
export function distance(km) {
  const unit = units() === "mi" ? "mile" : "kilometer";
  return new Intl.NumberFormat(locale(), { style: "unit", unit, maximumFractionDigits: 0 }).format(Math.ceil(fromKm(km) - 1e-6));
}

const format = (options) => (/** @type {string} */ iso) => new Intl.DateTimeFormat(locale(), options).format(new Date(iso));

/** "Tue 17:00" */
export const weekdayTime = format({ weekday: "short", hour: "2-digit", minute: "2-digit" });
/** "3 February 2026" */
export const day = format({ dateStyle: "long" });
/** "3 February 2026 at 17:00 CET" */
export const moment = format({ year: "numeric", month: "long", day: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" });

/** "17:00" */
export const hour = format({ hour: "2-digit", minute: "2-digit" });
const dayAndHour = format({ weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
/** When a room opens or closes: "17:00" today, else "Fri, 20 Nov, 17:00". @param {string} iso @param {number} now */
export const opening = (iso, now) => (new Date(iso).toDateString() === new Date(now).toDateString() ? hour : dayAndHour)(iso);

/** A time of day such as "09:00". @param {string} text */
export const timeOfDay = (text) => new Intl.DateTimeFormat(locale(), { hour: "2-digit", minute: "2-digit", timeZone: "UTC" }).format(new Date(`1970-01-01T${text}Z`));

/** "150 %" @param {number} factor */
export const percent = (factor) => new Intl.NumberFormat(locale(), { style: "percent" }).format(factor);

/** A number. @param {number} value */
export const number = (value) => new Intl.NumberFormat(locale()).format(value);

/** "jazz, tea, and old maps" @param {string[]} items */
export const listing = (items) => new Intl.ListFormat(locale()).format(items);

/** The name of a country. @param {string} code */
export function country(code) {
  try {
    return new Intl.DisplayNames(language(), { type: "region" }).of(code) ?? code;
  } catch {
    return code;
  }
}
