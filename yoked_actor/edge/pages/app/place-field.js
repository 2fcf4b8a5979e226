// Where a user lives: a search for places by name, or the position of the browser. Nobody types coordinates.

import { announce, button, h } from "./dom.js";
import { country } from "./format.js";
import { t } from "./texts.js";
import { refusal } from "./words.js";

const SEARCH_AFTER_MS = 200;

/** "Springfield, IL, United States". @param {any} place */
export function placeName({ name, alias, region, near, country: code }) {
  const shown = alias && alias !== name ? `${alias} (${name})` : name;
  return [near ? t("profile.placeNear", { name: shown, other: near }) : shown, region, country(code)].filter(Boolean).join(", ");
}

/**
 * A field with suggestions below it (a combobox). `location` is null until a place is chosen.
 * @param {any} app
 * @param {{lat: number, lon: number}|null} start
 * @param {(time_zone: string) => void} onZone called with the time zone of a chosen place
 * @param {(problem: string) => void} onProblem called with a problem, or with "" when there is none any more
 */
export function placeField(app, start, onZone, onProblem) {
  const field = { location: start, input: h("input", { id: "place", role: "combobox", autocomplete: "off", spellcheck: "false", maxlength: 80, "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "places" }) };
  const { input } = field;
  const list = h("ul", { id: "places", class: "places", role: "listbox", "aria-label": t("profile.places"), hidden: true });
  let places = [];
  let active = -1;
  let asked = 0;
  let timer = 0;

  const show = (visible) => {
    list.hidden = !visible;
    input.setAttribute("aria-expanded", String(visible));
    if (!visible) point(-1);
  };
  const point = (number) => {
    active = number;
    [...list.children].forEach((option, index) => option.setAttribute("aria-selected", String(index === number)));
    if (number < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", `place-${number}`);
    list.children[number]?.scrollIntoView({ block: "nearest" });
  };
  const choose = (place) => {
    field.location = place.location;
    input.value = placeName(place);
    show(false);
    onZone(place.time_zone);
    onProblem("");
    announce(t("profile.placeChosen", { place: input.value }));
  };
  const search = async () => {
    const text = input.value.trim();
    const number = ++asked;
    if (!text) return show(false);
    try {
      const found = await app.api.places(text);
      if (number !== asked) return;
      places = found;
    } catch (error) {
      if (number === asked) onProblem(refusal(error));
      return;
    }
    list.replaceChildren(...places.map((place, index) => h("li", { id: `place-${index}`, role: "option", "aria-selected": "false", onpointerdown: (event) => { event.preventDefault(); choose(place); } }, placeName(place))));
    show(places.length > 0);
    onProblem(places.length > 0 ? "" : t("profile.noPlaces"));
    if (places.length > 0) announce(t("profile.placesFound", { count: places.length }));
  };
  input.addEventListener("input", () => {
    field.location = null;
    onProblem("");
    clearTimeout(timer);
    timer = setTimeout(search, SEARCH_AFTER_MS);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !list.hidden) show(false);
    else if (event.key === "Enter" && !list.hidden && places.length > 0) choose(places[Math.max(active, 0)]);
    else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !list.hidden) point((active + (event.key === "ArrowDown" ? 1 : -1) + places.length) % places.length);
    else return;
    event.preventDefault();
  });
  input.addEventListener("blur", () => show(false));

  const showPosition = async (location, label) => {
    const near = await app.api.placeNear(location).catch(() => null);
    if (near && field.location === location) input.value = label(placeName(near));
    return near;
  };
  const locate = button(t("profile.locate"), () => {
    if (!navigator.geolocation) return onProblem(t("profile.locateImpossible"));
    locate.disabled = true;
    navigator.geolocation.getCurrentPosition(async ({ coords }) => {
      locate.disabled = false;
      // Four digits are ten metres. More would be of no use.
      field.location = { lat: Number(coords.latitude.toFixed(4)), lon: Number(coords.longitude.toFixed(4)) };
      onProblem("");
      const near = await showPosition(field.location, (place) => t("profile.located", { place }));
      if (near) onZone(near.time_zone);
      announce(input.value);
    }, () => {
      locate.disabled = false;
      onProblem(t("profile.locateRefused"));
    }, { timeout: 15_000 });
  });
  if (start) showPosition(start, (place) => place);
  return Object.assign(field, { list, locate, stop: () => clearTimeout(timer) });
}
