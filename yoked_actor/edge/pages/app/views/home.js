// The home page.

import { button, h, heading } from "../dom.js";
import { mark } from "../card.js";
import { t } from "../texts.js";

/** @param {any} app */
export function home(app) {
  const title = heading();
  const face = h("div", { class: "greeting" });
  const isWaiting = () => app.snapshot?.state === "waiting";
  const way = button(t("spin.spin"), () => (isWaiting() ? app.go("/spinning") : app.spin()), "main big");
  const tile = (href, name, text) => h("li", {}, h("a", { href }, h("strong", {}, name), h("span", {}, text)));
  const toRooms = tile("/rooms", t("bar.rooms"), t("home.rooms"));
  return {
    title: t("home.title"),
    root: h("section", { class: "stack" },
      h("div", { class: "panel hero" }, face, title, h("p", { class: "lead" }, t("home.lead")), h("div", { class: "actions" }, way)),
      h("ul", { class: "tiles" },
        tile("/offers", t("bar.offers"), t("home.offers")), tile("/connections", t("bar.connections"), t("home.connections")),
        tile("/met", t("bar.met"), t("home.met")), toRooms, tile("/profile", t("bar.profile"), t("home.profile")))),
    update() {
      toRooms.hidden = !app.rooms.isShown;
      const name = app.profile?.display_name ?? app.user;
      title.textContent = name ? t("home.hello", { name }) : t("home.helloNobody");
      face.replaceChildren(mark({ user_id: app.user, display_name: name || "?" }));
      way.textContent = isWaiting() ? t("home.back") : t("spin.spin");
    },
  };
}
