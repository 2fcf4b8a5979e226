// Reports that are being typed. They are kept until they are sent, so that none is lost when a page closes.

const KEY = "yoked.reports";
const MOST = 20;

function all() {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(stored) ? stored : [];
  } catch {
    return [];
  }
}

/** The report that a user has begun about a partner, or about anybody. @param {string} by @param {string} [about] */
export const draftOf = (by, about) => all().find((one) => one.by === by && (about === undefined || one.partner.user_id === about)) ?? null;

/** Keep a text; an empty one is forgotten. @param {string} by @param {any} partner @param {string|undefined} match_id @param {string} text */
export function keepDraft(by, partner, match_id, text) {
  const others = all().filter((one) => one.by !== by || one.partner.user_id !== partner.user_id);
  const { user_id, display_name } = partner;
  const kept = text.trim() ? [...others, { by, partner: { user_id, display_name }, match_id, text }] : others;
  try {
    localStorage.setItem(KEY, JSON.stringify(kept.slice(-MOST)));
  } catch {
    // Without storage, the text lasts as long as the dialog.
  }
}
