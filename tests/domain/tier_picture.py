"""The image of the tiers in the documentation, drawn from the rules."""

from __future__ import annotations

from yoked_actor.domain.rules import Rules

_WIDTH, _HEIGHT = 720, 250
_LEFT, _RIGHT, _FLOOR, _TOP = 40, 700, 200, 20
_STYLE = (
    "text{font:14px system-ui,sans-serif;fill:#1b1b1b}.small{font-size:12px}"
    ".axis{stroke:#888}.edge{stroke:#888;stroke-dasharray:3 3}.scale{fill:#555}"
    "@media(prefers-color-scheme:dark){.scale{fill:#ccc}}"
)
_COLOURS = ("#e3effa", "#bedaf2", "#94c1e8", "#f3cf9b")


def tiers_svg(rules: Rules) -> str:
    """Tiers against time, as an SVG image."""
    bands = [
        (0.0, "tier 1", "own limits"),
        (rules.tier2_after_s, "tier 2", _widening(rules.tier2_years, rules.tier2_distance)),
        (rules.tier3_after_s, "tier 3", _widening(rules.tier3_years, rules.tier3_distance)),
        (rules.forced_after_s, "forced, when tier 3 finds nobody", "any age, any distance"),
    ]
    last_s = 1.7 * max(at_s for at_s, _, _ in bands)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"'
        ' aria-label="How limits open with the wait">',
        f"<style>{_STYLE}</style>",
    ]
    # From the widest down: where two edges coincide, the narrower band is drawn over the wider.
    for number in reversed(range(len(bands))):
        parts += _band(number, *bands[number], last_s)
    parts.append(f'<line class="axis" x1="{_LEFT}" y1="{_FLOOR}" x2="{_RIGHT}" y2="{_FLOOR}"/>')
    for at_s in sorted({at_s for at_s, _, _ in bands}):
        x = _x(at_s, last_s)
        parts += [
            f'<line class="edge" x1="{x}" y1="{_TOP}" x2="{x}" y2="{_FLOOR + 6}"/>',
            f'<text class="scale" x="{x - 8}" y="{_FLOOR + 24}">{at_s:g} s</text>',
        ]
    label = "own time in line"
    parts.append(f'<text class="scale" x="{_RIGHT - 110}" y="{_FLOOR + 24}">{label}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _band(number: int, at_s: float, name: str, meaning: str, last_s: float) -> list[str]:
    x, y = _x(at_s, last_s), _FLOOR - (number + 1) * (_FLOOR - _TOP) // len(_COLOURS)
    colour = _COLOURS[number]
    return [
        f'<rect x="{x}" y="{y}" width="{_RIGHT - x}" height="{_FLOOR - y}" fill="{colour}"/>',
        f'<text x="{x + 8}" y="{y + 18}">{name}</text>',
        f'<text x="{x + 8}" y="{y + 34}" class="small">{meaning}</text>',
    ]


def _x(at_s: float, last_s: float) -> int:
    return round(_LEFT + (_RIGHT - _LEFT) * at_s / last_s)


def _widening(years: int, factor: float) -> str:
    return f"age by {years} years, distance by {factor - 1:.0%}"
