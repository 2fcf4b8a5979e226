// Today's offers, with the reasons, to accept or decline.

import { facts, interestList, mark } from "../card.js";
import { button, h, heading } from "../dom.js";
import { refusal } from "../words.js";

/** @param {any} app */
export function offers(app) {
  const list = h("div", { class: "stack" });
  const { client } = app;
  let alive = true;

  const answer = async (offer, choice, card) => {
    for (const one of card.querySelectorAll("button")) one.disabled = true;
    const reply = await app.attempt(() => client.answerOffer(offer.offer_id, choice));
    if (!reply) for (const one of card.querySelectorAll("button")) one.disabled = false;
    else if (alive) {
      const text = reply.connection_id ? "You both said yes. You're connected." : choice === "accept" ? "You accepted. If they accept too, you're connected." : "You declined. They won't be told.";
      const result = h("p", { class: "answered", tabindex: "-1" }, text);
      card.querySelector(".actions").replaceWith(result);
      result.focus();
    }
  };
  const card = (offer) => {
    const { candidate, reasons = [], expires_at } = offer;
    const until = new Date(expires_at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", weekday: "short" });
    const given = offer.answer;
    const element = h("article", { class: "panel offer" }, mark(candidate),
      h("div", {}, h("h2", {}, candidate.display_name), h("p", { class: "facts" }, facts(candidate)),
        reasons.length > 0 && h("p", { class: "reasons" }, reasons.join(" · ")),
        interestList(candidate.interests, app.profile?.interests ?? []),
        given
          ? h("p", { class: "answered" }, given === "accept" ? "You accepted. If they accept too, you're connected." : "You declined.")
          : h("div", { class: "actions" },
            button("Decline", () => answer(offer, "decline", element), "", { "aria-label": `Decline ${candidate.display_name}` }),
            button("Accept", () => answer(offer, "accept", element), "main", { "aria-label": `Accept ${candidate.display_name}` })),
        h("p", { class: "hint" }, `Open until ${until}`)));
    return element;
  };
  const load = async () => {
    try {
      const answer = await app.api.offers();
      if (!alive) return;
      list.replaceChildren(...(answer.offers.length > 0 ? answer.offers.map(card) : [h("p", { class: "panel empty" }, `No offers right now. New ones arrive every day at ${app.offers_at}, your time.`)]));
    } catch (error) {
      if (alive) list.replaceChildren(h("p", { class: "panel empty" }, refusal(error)));
    }
  };
  client.addEventListener("offers", load);
  load();
  return {
    title: "Offers",
    root: h("section", { class: "stack" }, heading("Today's offers"), h("p", { class: "lead" }, "Picked for you today. If you accept each other, you can meet on video."), list),
    close() { alive = false; client.removeEventListener("offers", load); },
  };
}
