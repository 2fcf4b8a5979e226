// The profile form. Problems are shown next to the fields.

import { announce, button, h, heading } from "../dom.js";
import { check, fieldOf, YEARS } from "../profile-check.js";
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
  const view = { title: "Profile", root, update() { if (!built && app.profile !== undefined) build(); } };
  let built = false;

  const build = () => {
    built = true;
    const known = app.profile;
    const start = known ?? {
      display_name: app.dev && app.user ? app.user[0].toUpperCase() + app.user.slice(1) : "",
      ...(app.dev ? EXAMPLE : { birth_date: "", location: { lat: "", lon: "" } }),
      gender: "", time_zone: ownZone(), interests: [],
      preferences: { seeking: app.dev ? app.genders : [], min_age: 18, max_age: 99, max_distance_km: 100 },
    };
    const { form, read, showProblems } = makeForm(app, start);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const draft = read();
      const problems = check(draft, app.genders, app.max_interests);
      if (showProblems(problems)) return;
      try {
        app.profile = await app.api.saveProfile(draft);
      } catch (error) {
        return void showProblems({ [fieldOf(error.message) ?? "form"]: refusal(error) });
      }
      // A new user wants to spin next; other users may want to change more.
      if (!known) {
        app.router.go("/spin");
        return void app.notify("Profile saved.");
      }
      app.router.follow();
      app.notify("Profile saved.", ["Spin", "/spin"]);
    });
    const example = app.dev && !known ? [h("p", { class: "hint" }, "This is a development server, so some fields are filled in as an example. Change what you like.")] : [];
    root.replaceChildren(heading(known ? "Your profile" : "Tell us about yourself"),
      h("p", { class: "lead" }, "Others see your name, age, gender, interests and roughly how far away you are. They never see your location or your date of birth."),
      ...example, form);
    root.querySelector("h1").focus({ preventScroll: true });
  };
  root.append(heading("Your profile"), h("p", {}, "Loading…"));
  return view;
}

/** One field with its label, hint and problem. */
function field(name, label, input, hint) {
  const described = [hint && `${name}-hint`, `${name}-problem`].filter(Boolean).join(" ");
  input.id = name;
  input.setAttribute("aria-describedby", described);
  return h("div", { class: "field" }, h("label", { for: name }, label), input, hint && h("p", { id: `${name}-hint`, class: "hint" }, hint), h("p", { id: `${name}-problem`, class: "problem" }));
}

function makeForm(app, start) {
  const wishes = start.preferences;
  const text = (value, props = {}) => h("input", { value, ...props });
  const number = (value, props) => h("input", { type: "number", inputmode: "decimal", value, ...props });
  const select = (options, chosen, label) => h("select", {}, label && h("option", { value: "", disabled: true }, label), options.map(([value, name]) => h("option", { value, selected: value === chosen }, name)));

  const inputs = {
    display_name: text(start.display_name, { maxlength: 80, autocomplete: "nickname" }),
    birth_date: text(start.birth_date, { type: "date", autocomplete: "bday" }),
    gender: select(app.genders.map((one) => [one, genderName(one)]), start.gender, "Choose"),
    lat: number(start.location.lat, { step: "any", min: -90, max: 90 }),
    lon: number(start.location.lon, { step: "any", min: -180, max: 180 }),
    time_zone: select(zones(start.time_zone, ownZone()).map((zone) => [zone, zone.replaceAll("_", " ")]), start.time_zone),
    min_age: number(wishes.min_age, { min: YEARS.least, max: YEARS.most, step: 1, inputmode: "numeric" }),
    max_age: number(wishes.max_age, { min: YEARS.least, max: YEARS.most, step: 1, inputmode: "numeric" }),
    max_distance_km: number(wishes.max_distance_km, { min: 1, max: 25000, step: "any" }),
  };
  if (!start.gender) inputs.gender.value = "";
  const seeking = app.genders.map((gender) => h("label", { class: "check" }, h("input", { type: "checkbox", name: "seeking", value: gender, checked: wishes.seeking.includes(gender), "aria-describedby": "seeking-problem" }), genderPlural(gender)));
  const interests = interestEditor(start.interests, app.max_interests);
  const locate = button("Use my location", () => {
    if (!navigator.geolocation) return showProblems({ lat: "Your browser can't share your location. Please enter it yourself." });
    locate.disabled = true;
    navigator.geolocation.getCurrentPosition(({ coords }) => {
      locate.disabled = false;
      inputs.lat.value = coords.latitude.toFixed(4);
      inputs.lon.value = coords.longitude.toFixed(4);
      announce("Your location has been filled in.");
    }, () => {
      locate.disabled = false;
      showProblems({ lat: "Your browser didn't share your location. Please enter it yourself." });
    }, { timeout: 15_000 });
  });
  const formProblem = h("p", { id: "form-problem", class: "problem", role: "alert" });
  const pair = (...fields) => h("div", { class: "pair" }, fields);
  const form = h("form", { novalidate: true },
    h("fieldset", { class: "panel" }, h("legend", {}, "You"),
      field("display_name", "Name", inputs.display_name),
      pair(field("birth_date", "Date of birth", inputs.birth_date, "You must be 18 or older. Others only see your age."), field("gender", "Gender", inputs.gender)),
      interests.element),
    h("fieldset", { class: "panel" }, h("legend", {}, "Where you are"),
      pair(field("lat", "Latitude", inputs.lat, "For example 52.52. Negative in the south."), field("lon", "Longitude", inputs.lon, "For example 13.4. Negative in the west.")),
      locate, field("time_zone", "Time zone", inputs.time_zone, `Your daily offers arrive at ${app.offers_at} in this time zone.`)),
    h("fieldset", { class: "panel" }, h("legend", {}, "Who you want to meet"),
      h("fieldset", { class: "plain", "aria-describedby": "seeking-problem" }, h("legend", {}, "I'd like to meet"), seeking, h("p", { id: "seeking-problem", class: "problem" })),
      pair(field("min_age", "Minimum age", inputs.min_age), field("max_age", "Maximum age", inputs.max_age)),
      field("max_distance_km", "Maximum distance (km)", inputs.max_distance_km, "If we don't find anyone, the search slowly widens beyond these limits.")),
    formProblem, h("div", { class: "actions" }, h("button", { class: "main big" }, "Save profile")));

  const numeric = (input) => (input.value.trim() === "" ? NaN : Number(input.value));
  const read = () => {
    interests.commit();
    return {
      display_name: inputs.display_name.value.trim(), birth_date: inputs.birth_date.value, gender: inputs.gender.value,
      location: { lat: numeric(inputs.lat), lon: numeric(inputs.lon) }, time_zone: inputs.time_zone.value, interests: interests.read(),
      preferences: {
        seeking: seeking.map((label) => label.querySelector("input")).filter((box) => box.checked).map((box) => box.value),
        min_age: numeric(inputs.min_age), max_age: numeric(inputs.max_age), max_distance_km: numeric(inputs.max_distance_km),
      },
    };
  };
  const controls = { ...inputs, seeking: seeking[0].querySelector("input"), interests: interests.input };
  /** Show the problems and focus the first field that has one. Returns whether there are any. */
  function showProblems(problems) {
    for (const [name, input] of Object.entries(controls)) {
      input.toggleAttribute("aria-invalid", false);
      if (problems[name]) input.setAttribute("aria-invalid", "true");
      form.querySelector(`#${name}-problem`).textContent = problems[name] ?? "";
    }
    const names = Object.keys(problems);
    formProblem.textContent = problems.form ?? (names.length > 1 ? `Please correct ${names.length} fields.` : names.length === 1 ? problems[names[0]] : "");
    controls[Object.keys(controls).find((name) => problems[name]) ?? ""]?.focus();
    return names.length > 0;
  }
  return { form, read, showProblems };
}

/** Interests: Enter or a comma adds one; each has a button to remove it. */
function interestEditor(given, most) {
  let tags = [...given];
  const input = h("input", { maxlength: 40, autocomplete: "off", enterkeyhint: "done" });
  const list = h("ul", { class: "tags", "aria-label": "Your interests" });
  const show = () => {
    list.hidden = tags.length === 0;
    list.replaceChildren(...tags.map((tag) => h("li", {}, tag, button("×", () => {
      tags = tags.filter((one) => one !== tag);
      show();
      input.focus();
      announce(`${tag} removed`);
    }, "dismiss", { "aria-label": `Remove ${tag}` }))));
  };
  const commit = () => {
    const added = input.value.split(",").map((tag) => tag.trim().toLowerCase()).filter((tag) => tag && !tags.includes(tag));
    if (added.length > 0) announce(`${added.join(", ")} added`);
    tags = [...tags, ...new Set(added)];
    input.value = "";
    show();
  };
  input.addEventListener("keydown", (event) => {
    if ((event.key !== "Enter" && event.key !== ",") || event.isComposing || (event.key === "Enter" && !input.value.trim())) return;
    event.preventDefault();
    commit();
  });
  show();
  const element = field("interests", "Interests", input, `For example jazz or climbing. Press Enter after each one. Up to ${most}.`);
  input.after(list);
  return { element, input, commit, read: () => tags };
}
