"""Where a lifetime's CPU time goes: as lines of text, and as a picture."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path

from scripts.benchmarks._sampler import CONNECTING

_BAR, _ROW, _LEFT, _WIDTH = 300, 22, 250, 640
_STYLE = """<style>
text{font:13px system-ui,sans-serif;fill:#334155}
rect{fill:#0d9488}
@media (prefers-color-scheme:dark){text{fill:#cbd5e1}rect{fill:#2dd4bf}}
</style>"""


def shares(seconds: Mapping[str, float]) -> list[tuple[str, float]]:
    """The parts of a lifetime and their shares, the largest first; connecting is left out."""
    counted = {part: s for part, s in seconds.items() if part != CONNECTING and s > 0}
    total = sum(counted.values())
    found = [(part, s / total) for part, s in counted.items()]
    return sorted(found, key=lambda row: -row[1])


def as_text(profile: Path, lifetimes: int, picture: Path | None) -> str:
    """One line for each part of what the sampler has written; drawn into a file, too, if given."""
    seconds = json.loads(profile.read_text())
    if picture is not None:
        picture.write_text(as_svg(seconds, lifetimes))
    each_us = _us_of(seconds, lifetimes)
    lines = [f"{share:6.1%}  {share * each_us:5.0f} us  {part}" for part, share in shares(seconds)]
    return "\n".join([f"{each_us:.0f} us of CPU for each lifetime, under the sampler:", *lines])


def as_svg(seconds: Mapping[str, float], lifetimes: int) -> str:
    """A bar for each part."""
    rows = shares(seconds)
    each_us, most = _us_of(seconds, lifetimes), rows[0][1]
    height = _ROW * len(rows) + 34
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img" aria-label="Shares of a lifetime">',
        _STYLE,
        f'<text x="8" y="18">{each_us:.0f} us of CPU for each lifetime</text>',
    ]
    for row, (part, share) in enumerate(rows):
        y = 30 + row * _ROW
        wide = max(1.0, _BAR * share / most)
        drawn.append(
            f'<text x="{_LEFT - 8}" y="{y + 14}" text-anchor="end">{escape(part)}</text>'
            f'<rect x="{_LEFT}" y="{y + 3}" width="{wide:.0f}" height="15" rx="2"/>'
            f'<text x="{_LEFT + wide + 6:.0f}" y="{y + 14}">{share:.0%}</text>'
        )
    return "\n".join([*drawn, "</svg>", ""])


def _us_of(seconds: Mapping[str, float], lifetimes: int) -> float:
    counted = sum(s for part, s in seconds.items() if part != CONNECTING)
    return counted / max(1, lifetimes) * 1e6
