// Creates elements without parsing HTML: text from users is never interpreted as markup.

const SVG = new Set(["svg", "circle", "path", "g", "rect", "line", "text"]);
const PROPERTIES = new Set(["value", "checked", "disabled", "hidden", "srcObject", "muted"]);

/**
 * Create an element. Properties that start with "on" add listeners; null, undefined and false are skipped.
 * @param {string} tag
 * @param {Record<string, any>} [props]
 * @param {...any} children
 * @returns {any}
 */
export function h(tag, props = {}, ...children) {
  const element = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (PROPERTIES.has(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** The heading of a page; focus moves to it when the page changes. @param {...any} children */
export const heading = (...children) => h("h1", { tabindex: "-1" }, ...children);

/** A button. @param {string} label @param {() => void} onclick @param {string} [kind] @param {object} [props] */
export const button = (label, onclick, kind = "", props = {}) => h("button", { type: "button", class: kind, onclick, ...props }, label);

/** Announce a text to screen readers. @param {string} text */
export function announce(text) {
  const live = document.getElementById("live");
  if (!live || !text) return;
  // A repeated text is only announced if the region was empty in between.
  live.textContent = "";
  setTimeout(() => { live.textContent = text; }, 50);
}

/** Seconds as 4:05. @param {number} seconds */
export function clock(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
