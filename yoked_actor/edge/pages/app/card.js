// How a person is shown. There are no photos, so each person gets a coloured mark.

import { h } from "./dom.js";
import { distance } from "./format.js";
import { t } from "./texts.js";
import { genderName } from "./words.js";

/** Pairs of colours, dark enough for a white letter. */
const PAIRS = [["#c2553b", "#6d2f6b"], ["#2f6f73", "#1f3f63"], ["#a8622a", "#7b2d3f"], ["#4c6b3c", "#274b4f"], ["#8a4a86", "#3f2a63"], ["#b04a63", "#5b2450"], ["#3f6292", "#322a5e"], ["#8a6d1f", "#5a3a1e"]];

/** A number that stays the same for the same text. */
function hash(text) {
  let value = 2166136261;
  for (const letter of text) value = Math.imul(value ^ letter.codePointAt(0), 16777619) >>> 0;
  return value;
}

/** Two overlapping discs in colours derived from the user ID, with the initial. @param {any} person @param {string} [size] */
export function mark(person, size = "") {
  const number = hash(person.user_id);
  const element = h("div", { class: `mark ${size}`, "aria-hidden": "true" }, h("span", {}, [...person.display_name.trim()][0]?.toUpperCase() ?? "?"));
  const [light, deep] = PAIRS[number % PAIRS.length];
  element.style.setProperty("--light", light);
  element.style.setProperty("--deep", deep);
  element.style.setProperty("--turn", `${(number >>> 17) % 360}deg`);
  return element;
}

/** "29, woman, within 5 km". @param {any} person */
export const facts = (person) => t("person.facts", { age: person.age, gender: genderName(person.gender), distance: distance(person.distance_km) });

/** Interests as a list. @param {string[]} interests @param {string[]} [shared] the ones that both have */
export function interestList(interests, shared = []) {
  if (interests.length === 0) return null;
  return h("ul", { class: "tags", "aria-label": t("person.interests") }, interests.map((interest) =>
    shared.includes(interest)
      ? h("li", { class: "shared" }, interest, h("span", { class: "sr-only" }, t("person.shared")))
      : h("li", {}, interest)));
}

/** The card of a partner. @param {any} person @param {string[]} [mine] interests of this user */
export function personCard(person, mine = []) {
  const ordered = [...person.interests].sort((a, b) => Number(mine.includes(b)) - Number(mine.includes(a)));
  return h("article", { class: "person" }, mark(person, "large"),
    h("h2", {}, person.display_name), h("p", { class: "facts" }, facts(person)),
    interestList(ordered, mine),
    ordered.some((interest) => mine.includes(interest)) && h("p", { class: "hint" }, t("person.sharedHint")));
}
