// Settings: language, units, keyboard, messages, blocked people, and the user's own data.

import { askPermission, chime, permission } from "../attention.js";
import { open } from "../dialogs.js";
import { announce, button, h, heading } from "../dom.js";
import { day, units } from "../format.js";
import { download } from "../my-data.js";
import { prefer, preferences } from "../preferences.js";
import { language, LANGUAGES, t } from "../texts.js";
import { refusal } from "../words.js";
import { checkDevices } from "./check.js";

const box = (id, label, checked, onchange, hint) => h("div", {},
  h("label", { class: "check" }, h("input", { type: "checkbox", id, checked, onchange, "aria-describedby": hint && `${id}-hint` }), label),
  hint && h("p", { class: "hint", id: `${id}-hint` }, hint));
const choose = (id, label, options, chosen, onchange) => h("div", { class: "field" }, h("label", { for: id }, label),
  h("select", { id, onchange }, options.map(([value, name]) => h("option", { value, selected: value === chosen }, name))));
const panel = (title, ...parts) => h("section", { class: "panel part", "aria-label": title }, h("h2", {}, title), parts);

/** @param {any} app */
export function settings(app) {
  return {
    title: t("settings.title"),
    root: h("div", { class: "stack" }, heading(t("settings.title")), h("p", { class: "lead" }, t("settings.lead")),
      panel(t("settings.look"), h("div", { class: "pair" },
        choose("set-language", t("settings.language"), LANGUAGES, language(), ({ target }) => app.setLanguage(target.value)),
        choose("set-units", t("settings.units"), [["km", t("settings.km")], ["mi", t("settings.mi")]], units(), ({ target }) => prefer({ units: target.value })))),
      panel(t("settings.keys"), box("set-keyboard", t("settings.keyboard"), preferences().keyboard, ({ target }) => prefer({ keyboard: target.checked }), t("settings.keyboardHint"))),
      reachPanel(), blockedPanel(app), dataPanel(app)),
  };
}

function reachPanel() {
  const hint = h("p", { class: "hint", role: "status" });
  const notify = async ({ target }) => {
    const allowed = !target.checked || (await askPermission()) === "granted";
    target.checked &&= allowed;
    prefer({ notifications: target.checked });
    hint.textContent = allowed ? "" : t("spinning.notifyBlocked");
  };
  return panel(t("settings.reach"),
    box("set-sound", t("settings.sound"), preferences().sound, ({ target }) => prefer({ sound: target.checked })),
    box("set-notifications", t("settings.notifications"), preferences().notifications && permission() === "granted", notify), hint,
    h("div", { class: "actions" }, button(t("settings.trySound"), chime), button(t("check.settings"), () => checkDevices())));
}

function blockedPanel(app) {
  const list = h("ul", { class: "rows" });
  const empty = h("p", { class: "hint" }, t("common.loading"));
  const row = ({ user_id, at, display_name }) => {
    const name = display_name ?? t("settings.gone");
    const unblock = async () => {
      if (!(await app.attempt(() => app.api.unblock(user_id)))) return;
      announce(t("settings.unblocked", { name }));
      await load();
      title.focus();
    };
    return h("li", {}, h("span", {}, h("strong", {}, name), h("span", { class: "hint" }, ` ${t("settings.blockedSince", { date: day(at) })}`)), button(t("settings.unblock"), unblock, "", { "aria-label": t("settings.unblockName", { name }) }));
  };
  const load = async () => {
    try {
      const { blocks } = await app.api.blocks();
      list.replaceChildren(...blocks.map(row));
      empty.textContent = blocks.length > 0 ? "" : t("settings.blockedNone");
    } catch (error) {
      empty.textContent = refusal(error);
    }
  };
  load();
  const part = panel(t("settings.blocked"), empty, list);
  const title = part.querySelector("h2");
  title.tabIndex = -1;
  return part;
}

function dataPanel(app) {
  const ask = () => {
    const name = app.profile?.display_name ?? app.user;
    const field = h("input", { id: "erase-name", autocomplete: "off", spellcheck: "false", "aria-describedby": "erase-problem" });
    const problem = h("p", { id: "erase-problem", class: "problem", role: "alert" });
    field.addEventListener("input", () => { problem.textContent = ""; field.removeAttribute("aria-invalid"); });
    const erase = button(t("settings.eraseNow"), async () => {
      if (field.value.trim() !== name) {
        problem.textContent = t("settings.eraseWrong", { name });
        field.setAttribute("aria-invalid", "true");
        return field.focus();
      }
      erase.disabled = true;
      try {
        await app.erase();
        dialog.close();
      } catch (error) {
        problem.textContent = refusal(error);
      } finally {
        erase.disabled = false;
      }
    }, "danger", { name: "erase" });
    const dialog = open(t("settings.eraseAsk"), [h("p", {}, t("settings.eraseText")), h("label", { for: "erase-name" }, t("settings.eraseType", { name })), field, problem],
      [button(t("common.cancel"), () => dialog.close()), erase]);
  };
  return panel(t("settings.data"), h("p", {}, t("settings.dataText")), h("div", { class: "actions" }, button(t("settings.download"), () => download(app))),
    h("p", {}, t("settings.eraseText")), h("div", { class: "actions" }, button(t("settings.erase"), ask, "danger")));
}
