// The home page.

import { button, h, heading } from "../dom.js";
import { mark } from "../card.js";

/** @param {any} app */
export function home(app) {
  const title = heading();
  const face = h("div", { class: "greeting" });
  const isWaiting = () => app.snapshot?.state === "waiting";
  const way = button("Spin", () => (isWaiting() ? app.go("/spinning") : app.spin()), "main big");
  return {
    title: "Home",
    root: h("section", { class: "stack" },
      h("div", { class: "panel hero" }, face, title, h("p", { class: "lead" }, "Spin to meet someone right now, or take your time with today's offers."), h("div", { class: "actions" }, way)),
      h("ul", { class: "tiles" },
        h("li", {}, h("a", { href: "/offers" }, h("strong", {}, "Offers"), h("span", {}, "A few people picked for you every day."))),
        h("li", {}, h("a", { href: "/connections" }, h("strong", {}, "Connections"), h("span", {}, "People who said yes to you too."))),
        h("li", {}, h("a", { href: "/profile" }, h("strong", {}, "Profile"), h("span", {}, "About you, and who you want to meet."))))),
    update() {
      const name = app.profile?.display_name ?? app.user;
      title.textContent = name ? `Hello, ${name}` : "Hello";
      face.replaceChildren(mark({ user_id: app.user, display_name: name || "?" }));
      way.textContent = isWaiting() ? "Back to the line" : "Spin";
    },
  };
}
