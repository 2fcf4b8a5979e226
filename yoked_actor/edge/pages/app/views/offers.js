// Today's offers, with the reasons, to accept or decline.

import { facts, interestList, mark } from "../card.js";
import { askToBlock, askToReport } from "../dialogs.js";
import { button, h, heading } from "../dom.js";
import { timeOfDay, weekdayTime } from "../format.js";
import { t } from "../texts.js";
import { reasonsFor, refusal } from "../words.js";

/** @param {any} app */
export function offers(app) {
  const list = h("div", { class: "stack" });
  const { client } = app;
  let alive = true;
  /** People with whom the acceptance is mutual. */
  let connected = new Set();

  const answer = async (offer, choice, card) => {
    for (const one of card.querySelectorAll("button")) one.disabled = true;
    const reply = await app.attempt(() => client.answerOffer(offer.offer_id, choice));
    for (const one of card.querySelectorAll("button")) one.disabled = false;
    if (!reply || !alive) return;
    const text = reply.connection_id ? t("offers.connected") : choice === "accept" ? t("offers.accepted") : t("offers.declined");
    const result = h("p", { class: "answered", tabindex: "-1" }, text);
    card.querySelector(".actions").replaceWith(result);
    result.focus();
  };
  const given = (offer) => {
    if (offer.connection_id || connected.has(offer.candidate.user_id)) return h("p", { class: "answered" }, t("offers.connected"), " ", h("a", { href: "/connections" }, t("notice.viewConnections")));
    return h("p", { class: "answered" }, offer.answer === "accept" ? t("offers.accepted") : t("offers.declined"));
  };
  const card = (offer) => {
    const { candidate, expires_at } = offer;
    const name = candidate.display_name;
    const element = h("article", { class: "panel offer" }, mark(candidate),
      h("div", {}, h("h2", {}, name), h("p", { class: "facts" }, facts(candidate)),
        h("p", { class: "reasons" }, reasonsFor(offer).join(" · ")),
        interestList(candidate.interests, app.profile?.interests ?? []),
        offer.answer || connected.has(candidate.user_id)
          ? given(offer)
          : h("div", { class: "actions" },
            button(t("offers.decline"), () => answer(offer, "decline", element), "", { "aria-label": t("offers.declineName", { name }) }),
            button(t("offers.accept"), () => answer(offer, "accept", element), "main", { "aria-label": t("offers.acceptName", { name }) })),
        h("div", { class: "card-foot" }, h("p", { class: "hint" }, t("offers.until", { time: weekdayTime(expires_at) })), quietButtons(app, candidate, load))));
    return element;
  };
  const load = async () => {
    try {
      const [answer, mutual] = await Promise.all([app.api.offers(), app.api.connections()]);
      if (!alive) return;
      connected = new Set(mutual.connections.map(({ partner }) => partner.user_id));
      list.replaceChildren(...(answer.offers.length > 0 ? answer.offers.map(card) : [h("p", { class: "panel empty" }, t("offers.none", { time: timeOfDay(app.offers_at) }))]));
    } catch (error) {
      if (alive) list.replaceChildren(h("p", { class: "panel empty" }, refusal(error)));
    }
  };
  for (const type of ["offers", "connection"]) client.addEventListener(type, load);
  load();
  return {
    title: t("offers.title"),
    root: h("section", { class: "stack" }, heading(t("offers.heading")), h("p", { class: "lead" }, t("offers.lead")), list),
    close() { alive = false; for (const type of ["offers", "connection"]) client.removeEventListener(type, load); },
  };
}

/** Report and block, for a card. @param {any} app @param {any} person @param {() => void} done called when the person is blocked @param {string} [match_id] */
export function quietButtons(app, person, done, match_id) {
  const name = person.display_name;
  return h("div", { class: "quiet" },
    button(t("common.block"), () => askToBlock(app, person, done), "link", { "aria-label": t("connections.blockName", { name }) }),
    button(t("common.report"), () => askToReport(app, person, match_id), "link", { "aria-label": t("connections.reportName", { name }) }));
}
