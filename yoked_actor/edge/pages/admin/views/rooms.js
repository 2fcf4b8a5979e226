// Rooms: who is in each, when it is open, and the actions to add, change, close and remove one.

import { open } from "/app/dialogs.js";
import { button, h, heading } from "/app/dom.js";
import { confirm, fill, label, table, when } from "../parts.js";
import { refusal } from "../words.js";

const SOURCES = { always: "always there", settings: "settings", database: "console or command" };
const ENTRIES = { everyone: "Everyone", code: "Users with the code", list: "Guests on the list" };
/** The rules of a room, which are otherwise those of [matching]; all but the policy are numbers. */
const RULES = ["date_length_s", "vote_window_s", "acknowledge_window_s", "tier2_after_s", "tier2_years", "tier2_distance", "tier3_after_s", "tier3_years", "tier3_distance", "forced_after_s", "starvation_after_s"];
const POLICIES = ["fair_queue", "weighted"];

const path = (/** @type {string} */ room) => `/api/admin/rooms/${encodeURIComponent(room)}`;
const lines = (/** @type {string} */ text) => text.split(/[\n,]/).map((one) => one.trim()).filter(Boolean);

/** When a room opens or closes next. @param {any} one */
function times(one) {
  if (one.problem) return "–";
  if (one.is_open) return one.closes_at ? ["closes ", when(one.closes_at)] : "no end";
  return one.opens_at ? ["opens ", when(one.opens_at)] : "does not open again";
}

/** A field of the form. @param {string} key @param {string} name @param {any} control @param {string} [hint] */
function field(key, name, control, hint) {
  control.id = `room-${key}`;
  if (hint) control.setAttribute("aria-describedby", `room-${key}-hint`);
  return h("div", { class: "field" }, h("label", { for: control.id }, name), control, hint ? h("p", { class: "hint", id: `room-${key}-hint` }, hint) : null);
}

const input = (/** @type {any} */ value, props = {}) => {
  const made = h("input", { autocomplete: "off", spellcheck: "false", ...props });
  made.value = value ?? "";
  return made;
};

const area = (/** @type {string[]|undefined} */ values, props = {}) => {
  const made = h("textarea", { rows: 3, spellcheck: "false", ...props });
  made.value = (values ?? []).join("\n");
  return made;
};

const select = (/** @type {Record<string, string>} */ names, /** @type {string|undefined} */ value) => {
  const made = h("select", {}, Object.entries(names).map(([key, name]) => h("option", { value: key }, name)));
  made.value = value ?? Object.keys(names)[0];
  return made;
};

/**
 * Ask for the definition of a room, and store it. Resolves with the id of the room, or null if the
 * operator cancels.
 * @param {any} app @param {string|null} room @param {any} [given]
 * @returns {Promise<string|null>}
 */
function edit(app, room, given = {}) {
  return new Promise((resolve) => {
    const id = input(room, { required: true, maxlength: 32, placeholder: "friday" });
    const texts = {
      name: input(given.name, { maxlength: 80 }), description: input(given.description, { maxlength: 1000 }),
      opens_at: input(given.opens_at, { placeholder: "2026-12-31T20:00:00+01:00" }), closes_at: input(given.closes_at), time_zone: input(given.time_zone, { placeholder: "UTC" }),
      entry: select(ENTRIES, given.entry), code: input("", { maxlength: 200 }), policy: select({ "": "as the server", ...Object.fromEntries(POLICIES.map((one) => [one, one])) }, given.policy ?? ""),
    };
    const lists = { schedule: area(given.schedule, { placeholder: "fri 20:00-23:00" }), guests: area(given.guests) };
    const numbers = Object.fromEntries(["capacity", ...RULES].map((key) => [key, input(given[key], { type: "number", min: 0, step: "any" })]));
    const problem = h("p", { class: "problem", role: "alert" });

    /** The definition as it was entered: an empty field is a key that is not set. */
    const entered = () => {
      const made = {};
      for (const [key, one] of Object.entries(texts)) if (one.value.trim()) made[key] = one.value.trim();
      for (const [key, one] of Object.entries(numbers)) if (one.value !== "") made[key] = Number(one.value);
      for (const [key, one] of Object.entries(lists)) made[key] = lines(one.value);
      return made;
    };

    const save = button(room === null ? "Add room" : "Change room", async () => {
      const wanted = room ?? id.value.trim();
      if (!wanted) return say("Enter an id: 1 to 32 of a-z, 0-9, _ and -.");
      save.disabled = true;
      try {
        await app.api.call("PUT", path(wanted), entered());
      } catch (error) {
        return say(refusal(error));
      } finally {
        save.disabled = false;
      }
      resolve(wanted);
      dialog.close();
    }, "", { name: "save" });
    const say = (/** @type {string} */ text) => { problem.textContent = text; };

    const dialog = open(room === null ? "Add a room" : `Change ${room}`, h("div", { class: "room-form" },
      room === null ? field("id", "Id", id, "1 to 32 of a-z, 0-9, _ and -. It cannot be changed later.") : null,
      field("name", "Name", texts.name), field("description", "Description", texts.description),
      field("schedule", "Weekly opening times", lists.schedule, "One a line: fri 20:00-23:00, mon-thu 18:00-02:00, daily 09:00-24:00. Without one it is open all day."),
      field("time_zone", "Time zone of these times", texts.time_zone),
      field("opens_at", "First opening", texts.opens_at, "A time with an offset from UTC; empty for none."),
      field("closes_at", "Closes for good", texts.closes_at, "A time with an offset from UTC; empty for never."),
      field("capacity", "Most users", numbers.capacity),
      field("entry", "Who may enter", texts.entry),
      field("code", "Invitation code", texts.code, room === null ? "For users with the code." : "The present code is not shown. It stays if this is empty."),
      field("guests", "Guests", lists.guests, "Ids of users, one a line."),
      h("details", {}, h("summary", {}, "Rules of matching"),
        h("p", { class: "hint" }, "An empty field is as [matching] in the settings. Rules change at the next opening."),
        field("policy", "policy", texts.policy), RULES.map((key) => field(key, key, numbers[key]))),
      problem), [button("Go back", () => dialog.close()), save]);
    dialog.addEventListener("close", () => resolve(null));
  });
}

/** @param {any} app */
export function roomsView(app) {
  const place = h("div", { class: "sections" }, h("p", { class: "empty" }, "Loading…"));
  let gone = false;
  let busy = false;

  async function load() {
    if (busy) return;
    busy = true;
    const found = await app.call("GET", "/api/admin/rooms");
    busy = false;
    if (!found || gone) return;
    fill(place, table("Rooms", ["Room", "State", "Times", "Users", "Waiting", "Open matches", "Entry", "Declared in", ""], found.rooms.map((one) => [
      [one.room, one.definition.name ? h("span", { class: "note" }, one.definition.name) : null],
      one.problem ? [label("Not used", "bad"), h("span", { class: "note" }, one.problem)] : one.is_open ? label("Open", "good") : label("Closed"),
      times(one), one.definition.capacity ? `${one.here.toLocaleString()} of ${one.definition.capacity.toLocaleString()}` : one.here.toLocaleString(),
      one.waiting.toLocaleString(), one.matches.toLocaleString(),
      one.definition.entry === "list" ? `${one.guests.toLocaleString()} guests` : ENTRIES[one.definition.entry ?? "everyone"], SOURCES[one.source],
      one.source === "database" && app.may("admin") ? h("div", { class: "actions" },
        one.problem ? null : button("Change", () => change(one.room), "small", { "aria-label": `Change ${one.room}` }),
        one.is_open ? button("Close", () => close(one.room), "small", { "aria-label": `Close ${one.room}` }) : null,
        one.problem && one.problem.startsWith("the settings") ? null : button("Remove", () => remove(one.room), "small danger", { "aria-label": `Remove ${one.room}` })) : null,
    ]), "No rooms."));
  }

  async function add() {
    const room = await edit(app, null);
    if (room === null) return;
    await load();
    app.notify(`The room ${room} is declared.`);
  }

  async function change(room) {
    const found = await app.call("GET", path(room));
    if (!found || (await edit(app, room, found.definition)) === null) return;
    await load();
    app.notify(`The room ${room} is changed.`);
  }

  async function close(room) {
    if (!(await confirm({ title: `Close ${room}?`, text: "It closes now and for good. Matches and dates run out; nobody can enter. To open it again, change it and empty Closes for good.", act: "Close room" }))) return;
    const found = await app.call("GET", path(room));
    if (!found || !(await app.call("PUT", path(room), { ...found.definition, closes_at: new Date().toISOString() }))) return;
    await load();
    app.notify(`The room ${room} is closed.`);
  }

  async function remove(room) {
    if (!(await confirm({ title: `Remove ${room}?`, text: "It closes now, and its definition and list of guests are deleted. Matches and dates run out.", act: "Remove room" }))) return;
    if (!(await app.call("DELETE", path(room)))) return;
    await load();
    app.notify(`The room ${room} is removed.`);
  }

  load();
  return {
    title: "Rooms",
    root: h("div", { class: "sections" }, heading("Rooms"),
      h("p", { class: "lead" }, "Each room has its own line, times and rules. A change takes effect at once. Rooms of the settings are changed in the settings."),
      app.may("admin") ? h("p", {}, button("Add a room…", add, "small")) : null,
      place),
    // With every status, but not while the operator uses the table.
    update() { if (!place.contains(document.activeElement) && !document.querySelector("dialog[open]")) load(); },
    leave() { gone = true; },
  };
}
