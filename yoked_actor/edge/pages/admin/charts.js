// SVG charts that fill the available width.

import { h } from "/app/dom.js";

const HEIGHT = 190;
const LEFT = 40;
const BOTTOM = 24;
const TOP = 10;
const RIGHT = 6;
export const MINUTES = 60;
export const TIERS = [1, 2, 3, 99];

/** The next round number whose half is round too: 4, 6, 8, 10, 20, 30... @param {number} value */
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 3, 4, 6, 8, 10].map((step) => step * power).find((step) => step >= value) ?? 10 * power;
}

const clock = (ms) => new Date(ms).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
const round = (value) => Math.round(10 * value) / 10;

/** The last hour by minute; minutes that the server left out are filled in. @param {any} status */
export function lastHour(status) {
  const now = Math.floor(Date.parse(status.at) / 60_000) * 60_000;
  const known = new Map(status.minutes.map((minute) => [Date.parse(minute.at), minute]));
  let waiting = 0;
  return Array.from({ length: MINUTES }, (_, index) => {
    const at = now - (MINUTES - 1 - index) * 60_000;
    const found = known.get(at);
    if (found) waiting = found.waiting;
    return { at, waiting: at === now ? Math.max(waiting, status.waiting) : waiting, matches: found?.matches ?? 0, tiers: found?.tiers ?? {}, wait_s: found?.wait_s ?? null };
  });
}

/** A figure that is drawn again when its width changes. @param {string} title @param {any} [below] */
function figure(title, below) {
  const place = h("div", { class: "drawing" });
  const root = h("figure", { class: "panel chart" }, h("figcaption", {}, h("h2", {}, title)), place, below);
  let draw = null;
  const redraw = () => { if (draw && place.clientWidth) place.replaceChildren(draw(place.clientWidth)); };
  new ResizeObserver(redraw).observe(place);
  return { root, show: (next) => { draw = next; redraw(); } };
}

/** Axes and grid lines. */
function axes(width, top, minutes, label) {
  const plot = { x: LEFT, y: TOP, width: width - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM };
  const step = plot.width / minutes.length;
  const y = (value) => round(plot.y + plot.height * (1 - value / top));
  const marks = [0, top / 2, top];
  const every = width < 420 ? 20 : 10;
  const root = h("svg", { class: "plot", viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": label },
    marks.map((mark) => [
      h("line", { class: mark ? "grid" : "ground", x1: LEFT, x2: width - RIGHT, y1: y(mark), y2: y(mark) }),
      h("text", { class: "axis", x: LEFT - 8, y: y(mark) + 4, "text-anchor": "end" }, mark.toLocaleString()),
    ]),
    minutes.map(({ at }, index) => (new Date(at).getMinutes() % every === 0 && index > 1 && index < minutes.length - 1
      ? h("text", { class: "axis", x: round(LEFT + step * (index + 0.5)), y: HEIGHT - 6, "text-anchor": "middle" }, clock(at))
      : null)));
  return { root, step, y, x: (index) => round(LEFT + step * index) };
}

/** Waiting users over the last hour. */
export function waitingChart() {
  const { root, show } = figure("Waiting users, maximum per minute");
  return {
    root,
    update(status) {
      const minutes = lastHour(status);
      const most = Math.max(...minutes.map(({ waiting }) => waiting));
      show((width) => {
        const { root: svg, step, x, y } = axes(width, ceiling(Math.max(most, 4)), minutes, `Waiting users in the last hour: ${status.waiting} now, ${most} at most.`);
        const points = minutes.map(({ waiting }, index) => `${round(x(index) + step / 2)},${y(waiting)}`);
        const [first, last] = [points[0].split(",")[0], points.at(-1).split(",")[0]];
        svg.append(
          h("path", { class: "area", d: `M${first},${y(0)} L${points.join(" L")} L${last},${y(0)} Z` }),
          h("path", { class: "curve", d: `M${points.join(" L")}` }),
          h("circle", { class: "tip", cx: last, cy: y(minutes.at(-1).waiting), r: 4 }));
        return svg;
      });
    },
  };
}

/** A legend of the tiers. @param {Record<string, string>} names */
const legend = (names) => h("ul", { class: "legend" }, TIERS.map((tier) => h("li", {}, h("svg", { class: "swatch", viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" }, h("rect", { class: `tier-${tier}`, width: 12, height: 12, rx: 3 })), names[tier])));

/** Matches in each minute, by tier. @param {Record<string, string>} names */
export function matchesChart(names) {
  const { root, show } = figure("Matches per minute, by tier", legend(names));
  return {
    root,
    update(status) {
      const minutes = lastHour(status);
      const most = Math.max(...minutes.map(({ matches }) => matches));
      show((width) => {
        const { root: svg, step, x, y } = axes(width, ceiling(Math.max(most, 4)), minutes, `Matches per minute in the last hour: ${status.hour.matches} in total, ${most} in the busiest minute.`);
        minutes.forEach(({ tiers }, index) => {
          let below = 0;
          for (const tier of TIERS) {
            const count = tiers[tier] ?? 0;
            if (count === 0) continue;
            svg.append(h("rect", { class: `tier-${tier}`, x: round(x(index) + step * 0.14), width: round(step * 0.72), y: y(below + count), height: round(y(below) - y(below + count)), rx: 1 }));
            below += count;
          }
        });
        return svg;
      });
    },
  };
}

/** Shares of a whole, one bar each. @param {string} title @param {[string, string][]} kinds key and name @param {(status: any) => Record<string, number>} counts @param {string} empty */
export function sharesChart(title, kinds, counts, empty) {
  const { root, show } = figure(title);
  const row = 34;
  return {
    root,
    update(status) {
      const found = counts(status);
      const shown = kinds.filter(([key]) => found[key] !== undefined || kinds.length <= 4);
      const all = Object.values(found).reduce((sum, count) => sum + count, 0);
      show((width) => {
        if (all === 0) return h("p", { class: "empty" }, empty);
        const summary = shown.map(([key, name]) => `${name} ${found[key] ?? 0}`).join(", ");
        return h("svg", { class: "plot", viewBox: `0 0 ${width} ${row * shown.length}`, width, height: row * shown.length, role: "img", "aria-label": `${title}: ${summary}.` },
          shown.map(([key, name], index) => {
            const count = found[key] ?? 0;
            const y = row * index;
            return [
              h("text", { class: "name", x: 0, y: y + 14 }, name),
              h("text", { class: "share", x: width, y: y + 14, "text-anchor": "end" }, `${count.toLocaleString()} · ${Math.round((100 * count) / all)} %`),
              h("rect", { class: "track", x: 0, y: y + 19, width, height: 7, rx: 3.5 }),
              count ? h("rect", { class: `tier-${key} kind-${key}`, x: 0, y: y + 19, width: Math.max(7, round((width * count) / all)), height: 7, rx: 3.5 }) : null,
            ];
          }));
      });
    },
  };
}

/** One or more bars for each group. @param {string} title @param {{name: string, bars: [string, number|null][]}[]} groups @param {(value: any) => string} words @param {number} [top] the value of a full bar */
export function barsChart(title, groups, words, top) {
  const { root, show } = figure(title);
  const most = top ?? Math.max(...groups.flatMap(({ bars }) => bars.map(([, value]) => value ?? 0)), 1e-9);
  const heights = groups.map(({ bars }) => 24 + 22 * bars.length);
  const height = heights.reduce((sum, one) => sum + one, 0);
  show((width) => {
    let above = 0;
    const summary = groups.map(({ name, bars }) => `${name}: ${bars.map(([bar, value]) => `${bar} ${words(value)}`).join(", ")}`).join("; ");
    return h("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${title}. ${summary}.` },
      groups.map(({ name, bars }, group) => {
        const start = above;
        above += heights[group];
        return [
          h("text", { class: "name", x: 0, y: start + 14 }, name),
          ...bars.flatMap(([bar, value], index) => {
            const y = start + 20 + 22 * index;
            return [
              h("rect", { class: "track", x: 62, y: y + 4, width: Math.max(0, width - 62 - 90), height: 8, rx: 4 }),
              h("text", { class: "axis", x: 0, y: y + 12 }, bar),
              value ? h("rect", { class: "kind-bar", x: 62, y: y + 4, width: Math.max(4, round(((width - 62 - 90) * value) / most)), height: 8, rx: 4 }) : null,
              h("text", { class: "share", x: width, y: y + 13, "text-anchor": "end" }, words(value)),
            ];
          }),
        ];
      }));
  });
  return root;
}

/** The tiers of each group, as shares of one bar. @param {string} title @param {{name: string, tiers: Record<string, number>}[]} groups @param {Record<string, string>} names */
export function tiersChart(title, groups, names) {
  const { root, show } = figure(title, legend(names));
  const row = 46;
  show((width) => h("svg", { class: "plot", viewBox: `0 0 ${width} ${row * groups.length}`, width, height: row * groups.length, role: "img", "aria-label": `${title}. ${groups.map(({ name, tiers }) => `${name}: ${TIERS.map((tier) => `${names[tier]} ${tiers[tier] ?? 0}`).join(", ")}`).join("; ")}.` },
    groups.map(({ name, tiers }, index) => {
      const all = TIERS.reduce((sum, tier) => sum + (tiers[tier] ?? 0), 0) || 1;
      let left = 0;
      return [
        h("text", { class: "name", x: 0, y: row * index + 14 }, name),
        TIERS.map((tier) => {
          const part = (width * (tiers[tier] ?? 0)) / all;
          const x = left;
          left += part;
          return part ? h("rect", { class: `tier-${tier}`, x: round(x), y: row * index + 20, width: round(part), height: 12, rx: 2 }) : null;
        }),
      ];
    })));
  return root;
}
