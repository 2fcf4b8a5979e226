// The profile form. Problems are shown next to the fields, and disappear when a field is corrected.

import { announce, button, h, heading } from "../dom.js";
import { fromKm, percent, timeOfDay, toKm, units } from "../format.js";
import { placeField } from "../place-field.js";
import { check, fieldOf, FURTHEST_KM, YEARS } from "../profile-check.js";
import { t } from "../texts.js";
import { genderName, genderPlural, refusal } from "../words.js";

/** Prefilled on a development server, so that a visitor can spin right away. */
const EXAMPLE = { birth_date: "1998-04-02", location: { lat: 52.52, lon: 13.405 } };
const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

/** The time zones to choose from, including the given ones. */
function zones(...given) {
  const known = Intl.supportedValuesOf?.("timeZone") ?? [];
  return [...new Set([...known, "UTC", ...given])].sort();
}

/** @param {any} app */
export function profile(app) {
  const root = h("section", { class: "stack profile" });
  let form = null;

  const build = () => {
    const known = app.profile;
    const start = app.profile_draft ?? known ?? {
      display_name: app.dev && app.user ? app.user[0].toUpperCase() + app.user.slice(1) : "",
      ...(app.dev ? EXAMPLE : { birth_date: "", location: null }),
      gender: "", time_zone: ownZone(), interests: [],
      preferences: { seeking: app.dev ? app.genders : [], min_age: 18, max_age: 99, max_distance_km: 100 },
    };
    form = makeForm(app, start);
    const { element, read, showProblems } = form;
    // What was typed is not lost when a match, or another language, replaces the page.
    element.addEventListener("input", () => { app.profile_draft = read(false); });
    element.addEventListener("submit", async (event) => {
      event.preventDefault();
      const draft = read();
      if (showProblems(check(draft, app.genders, app.max_interests))) return;
      try {
        app.profile = await app.api.saveProfile(draft);
      } catch (error) {
        return void showProblems({ [fieldOf(error.message) ?? "form"]: refusal(error) });
      }
      app.profile_draft = null;
      // A new user wants to spin next; other users may want to change more.
      if (!known) {
        app.router.go("/spin");
        return void app.notify(t("profile.saved"));
      }
      app.router.follow();
      app.notify(t("profile.saved"), [t("bar.spin"), "/spin"]);
    });
    const example = app.dev && !known ? [h("p", { class: "hint" }, t("profile.example"))] : [];
    root.replaceChildren(heading(known ? t("profile.heading") : t("profile.first")), h("p", { class: "lead" }, t("profile.lead")), ...example, element);
    root.querySelector("h1").focus({ preventScroll: true });
  };
  root.append(heading(t("profile.heading")), h("p", {}, t("common.loading")));
  return {
    title: t("profile.title"), root,
    update() { if (!form && app.profile !== undefined) build(); },
    close() { form?.stop(); },
  };
}

/** One field with its label, hint and problem. */
function field(name, label, input, hint) {
  const described = [hint && `${name}-hint`, `${name}-problem`].filter(Boolean).join(" ");
  input.id = name;
  input.setAttribute("aria-describedby", described);
  return h("div", { class: "field" }, h("label", { for: name }, label), input, hint && h("p", { id: `${name}-hint`, class: "hint" }, hint), h("p", { id: `${name}-problem`, class: "problem" }));
}

const numberInput = (value, props) => h("input", { type: "number", inputmode: "numeric", value, ...props });
const select = (options, chosen, label) => h("select", {}, label && h("option", { value: "", disabled: true }, label), options.map(([value, name]) => h("option", { value, selected: value === chosen }, name)));
const numeric = (input) => (input.value.trim() === "" ? NaN : Number(input.value));

/** How the search widens, from the settings of the server. @param {any} app */
function widening({ tiers }) {
  const [seconds2, years2, factor2, seconds3, years3, factor3, seconds99] = tiers;
  const years = (count) => t("profile.years", { count });
  // With the usual settings, the third step and the last one come at the same time.
  return t(seconds3 < seconds99 ? "profile.widens" : "profile.widensTwice", { seconds2, seconds3, seconds99, years2: years(years2), years3: years(years3), factor2: percent(factor2), factor3: percent(factor3) });
}

function makeForm(app, start) {
  const wishes = start.preferences;
  const inputs = {
    display_name: h("input", { value: start.display_name, maxlength: 80, autocomplete: "nickname" }),
    birth_date: h("input", { value: start.birth_date, type: "date", autocomplete: "bday" }),
    gender: select(app.genders.map((one) => [one, genderName(one)]), start.gender, t("profile.choose")),
    time_zone: select(zones(start.time_zone, ownZone()).map((zone) => [zone, zone.replaceAll("_", " ")]), start.time_zone),
    min_age: numberInput(wishes.min_age, { min: YEARS.least, max: YEARS.most, step: 1 }),
    max_age: numberInput(wishes.max_age, { min: YEARS.least, max: YEARS.most, step: 1 }),
    max_distance_km: numberInput(Math.round(fromKm(wishes.max_distance_km)), { min: 1, max: Math.floor(fromKm(FURTHEST_KM)), step: 1 }),
  };
  if (!start.gender) inputs.gender.value = "";
  const useZone = (zone) => { if ([...inputs.time_zone.options].some((option) => option.value === zone)) inputs.time_zone.value = zone; };
  const place = placeField(app, start.location ?? null, useZone, (text) => setProblem("place", text));
  const placeRow = field("place", t("profile.place"), place.input, t("profile.placeHint"));
  place.input.after(place.list);
  const boxes = (name, options, chosen) => options.map(([value, label]) => h("label", { class: "check" }, h("input", { type: "checkbox", name, value, checked: chosen.includes(value), "aria-describedby": `${name}-problem` }), label));
  const seeking = boxes("seeking", app.genders.map((one) => [one, genderPlural(one)]), wishes.seeking);
  const strict = boxes("strict", [["age", t("profile.strictAge")], ["distance", t("profile.strictDistance")]], wishes.strict ?? []);
  const interests = interestEditor(start.interests, app.max_interests);
  const formProblem = h("p", { id: "form-problem", class: "problem", role: "alert" });
  const pair = (...fields) => h("div", { class: "pair" }, fields);
  const element = h("form", { novalidate: true },
    h("fieldset", { class: "panel" }, h("legend", {}, t("profile.you")),
      field("display_name", t("profile.name"), inputs.display_name),
      pair(field("birth_date", t("profile.birth"), inputs.birth_date, t("profile.birthHint")), field("gender", t("profile.gender"), inputs.gender)),
      interests.element),
    h("fieldset", { class: "panel" }, h("legend", {}, t("profile.where")),
      placeRow, h("div", { class: "actions" }, place.locate, h("span", { class: "hint" }, t("profile.placeSource"))),
      field("time_zone", t("profile.zone"), inputs.time_zone, t("profile.zoneHint", { time: timeOfDay(app.offers_at) }))),
    h("fieldset", { class: "panel" }, h("legend", {}, t("profile.who")),
      h("fieldset", { class: "plain", "aria-describedby": "seeking-problem" }, h("legend", {}, t("profile.seeking")), seeking, h("p", { id: "seeking-problem", class: "problem" })),
      pair(field("min_age", t("profile.minAge"), inputs.min_age), field("max_age", t("profile.maxAge"), inputs.max_age)),
      field("max_distance_km", t("profile.maxDistance", { unit: units() }), inputs.max_distance_km),
      h("fieldset", { class: "plain", "aria-describedby": "strict-hint" }, h("legend", {}, t("profile.strict")), strict,
        h("p", { id: "strict-hint", class: "hint" }, t("profile.strictHint"), " ", widening(app)), h("p", { id: "strict-problem", class: "problem" }))),
    formProblem, h("div", { class: "actions" }, h("button", { class: "main big" }, t("profile.save"))));

  const checked = (boxes) => boxes.map((label) => label.firstElementChild).filter((box) => box.checked).map((box) => box.value);
  const read = (commit = true) => {
    if (commit) interests.commit();
    // A distance that was not touched keeps its exact value in kilometres.
    const typed = numeric(inputs.max_distance_km);
    const max_distance_km = typed === Math.round(fromKm(wishes.max_distance_km)) ? wishes.max_distance_km : Math.round(toKm(typed) * 1000) / 1000;
    return {
      display_name: inputs.display_name.value.trim(), birth_date: inputs.birth_date.value, gender: inputs.gender.value,
      location: place.location, time_zone: inputs.time_zone.value, interests: interests.read(),
      preferences: { seeking: checked(seeking), min_age: numeric(inputs.min_age), max_age: numeric(inputs.max_age), max_distance_km, ...(checked(strict).length > 0 || wishes.strict ? { strict: checked(strict) } : {}) },
    };
  };
  const controls = { ...inputs, place: place.input, interests: interests.input, seeking: seeking[0].firstElementChild };
  const order = ["display_name", "birth_date", "gender", "interests", "place", "time_zone", "seeking", "min_age", "max_age", "max_distance_km"];
  const setProblem = (name, text) => {
    if (text) controls[name].setAttribute("aria-invalid", "true");
    else controls[name].removeAttribute("aria-invalid");
    const line = element.querySelector(`#${name}-problem`);
    if (line.textContent !== text) line.textContent = text;
  };
  const showProblems = (problems) => {
    for (const name of order) setProblem(name, problems[name] ?? "");
    const names = Object.keys(problems);
    formProblem.textContent = problems.form ?? (names.length > 1 ? t("profile.correct", { count: names.length }) : names.length === 1 ? problems[names[0]] : "");
    controls[order.find((name) => problems[name]) ?? ""]?.focus();
    return names.length > 0;
  };
  // A field that has a problem is checked again while it is corrected.
  const recheck = () => {
    const left = order.filter((name) => controls[name].getAttribute("aria-invalid") === "true");
    if (left.length === 0) return;
    const problems = check(read(false), app.genders, app.max_interests);
    for (const name of left) setProblem(name, problems[name] ?? "");
    if (left.every((name) => !problems[name])) formProblem.textContent = "";
  };
  for (const type of ["input", "change"]) element.addEventListener(type, ({ target }) => { if (target !== place.input) recheck(); });
  return { element, read, showProblems, stop: place.stop };
}

/** Interests: Enter or a comma adds one; each has a button to remove it. */
function interestEditor(given, most) {
  let tags = [...given];
  const input = h("input", { maxlength: 40, autocomplete: "off", enterkeyhint: "done" });
  const list = h("ul", { class: "tags", "aria-label": t("profile.yourInterests") });
  const changed = () => input.dispatchEvent(new Event("input", { bubbles: true }));
  const show = () => {
    list.hidden = tags.length === 0;
    list.replaceChildren(...tags.map((tag) => h("li", {}, tag, button("×", () => {
      tags = tags.filter((one) => one !== tag);
      show();
      changed();
      input.focus();
      announce(t("profile.removed", { interest: tag }));
    }, "dismiss", { "aria-label": t("profile.remove", { interest: tag }) }))));
  };
  const commit = () => {
    const added = input.value.split(",").map((tag) => tag.trim().toLowerCase()).filter((tag) => tag && !tags.includes(tag));
    if (added.length > 0) announce(t("profile.added", { interests: added.join(", ") }));
    tags = [...tags, ...new Set(added)];
    input.value = "";
    show();
  };
  input.addEventListener("keydown", (event) => {
    if ((event.key !== "Enter" && event.key !== ",") || event.isComposing || (event.key === "Enter" && !input.value.trim())) return;
    event.preventDefault();
    commit();
    changed();
  });
  show();
  const element = field("interests", t("profile.interests"), input, t("profile.interestsHint", { most }));
  input.after(list);
  return { element, input, commit, read: () => tags };
}
