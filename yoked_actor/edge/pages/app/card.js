// What one sees of another person: never a picture, so everybody gets a mark of their own.

import { h } from "./dom.js";
import { genderName } from "./words.js";

/** A number that stays the same for the same text. */
function hash(text) {
  let value = 2166136261;
  for (const letter of text) value = Math.imul(value ^ letter.codePointAt(0), 16777619) >>> 0;
  return value;
}

/** Two overlapping discs in a person's own colours, with their initial. @param {any} person @param {string} [size] */
export function mark(person, size = "") {
  const number = hash(person.user_id);
  const element = h("div", { class: `mark ${size}`, "aria-hidden": "true" }, h("span", {}, [...person.display_name.trim()][0]?.toUpperCase() ?? "?"));
  element.style.setProperty("--hue-a", String(number % 360));
  element.style.setProperty("--hue-b", String((number % 360) + 40 + ((number >>> 9) % 80)));
  element.style.setProperty("--turn", `${(number >>> 17) % 360}deg`);
  return element;
}

/** "29, woman, 3 km away". @param {any} person */
export const facts = (person) => `${person.age} · ${genderName(person.gender)} · ${person.distance_km} km away`;

/** Interests as a list. @param {string[]} interests @param {string[]} [shared] those that both have */
export function interestList(interests, shared = []) {
  if (interests.length === 0) return null;
  return h("ul", { class: "tags", "aria-label": "Interests" }, interests.map((interest) =>
    shared.includes(interest)
      ? h("li", { class: "shared" }, interest, h("span", { class: "sr-only" }, " (you too)"))
      : h("li", {}, interest)));
}

/** A partner, on a card. @param {any} person @param {string[]} [mine] my own interests */
export function personCard(person, mine = []) {
  const ordered = [...person.interests].sort((a, b) => Number(mine.includes(b)) - Number(mine.includes(a)));
  return h("article", { class: "person" }, mark(person, "large"),
    h("h2", {}, person.display_name), h("p", { class: "facts" }, facts(person)),
    interestList(ordered, mine),
    ordered.some((interest) => mine.includes(interest)) && h("p", { class: "hint" }, "Filled tags are interests you share."));
}
