"""Plots as SVG: bars, stacked columns, a line, and marks on a timeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

_WIDTH, _LEFT, _RIGHT = 960, 275, 60
_BLUE = "#2f7ed8"


class Bar(NamedTuple):
    """A bar with a label; in parts, if it has any."""

    label: str
    value: float
    parts: Mapping[str, int] | None = None
    colours: Mapping[str, str] = {}


def bars(given: Sequence[Bar]) -> str:
    """Horizontal bars."""
    most = max((bar.value for bar in given), default=0.0) or 1.0
    room, row = _WIDTH - _LEFT - _RIGHT, 20
    shapes = []
    for number, bar in enumerate(given):
        y = number * row
        shapes.append(_text(_LEFT - 8, y + 14, bar.label, "end"))
        x = float(_LEFT)
        parts = bar.parts or {"": round(bar.value)}
        for name, value in parts.items():
            width = room * value / most
            colour = bar.colours.get(name, _BLUE)
            shapes.append(_rect(x, y + 3, width, 14, colour, f"{bar.label} {name}: {value}"))
            x += width
        shapes.append(_text(x + 6, y + 14, f"{bar.value:,.0f}"))
    return _svg(len(given) * row + 4, shapes)


def stacked(columns: Sequence[Mapping[str, int]], colours: Mapping[str, str]) -> str:
    """A column for each hour, with a line for each day."""
    height, floor = 180, 190
    most = max((sum(column.values()) for column in columns), default=0) or 1
    width = (_WIDTH - 40) / max(1, len(columns))
    shapes = [_text(0, 20, str(most), "start", "soft"), _text(0, floor, "0", "start", "soft")]
    for hour, column in enumerate(columns):
        x, y = 40 + hour * width, float(floor)
        if hour % 24 == 0:
            shapes.append(f'<line x1="{x:.1f}" y1="10" x2="{x:.1f}" y2="{floor}"/>')
            shapes.append(_text(x + 3, floor + 16, f"day {hour // 24 + 1}", "start", "soft"))
        for name, value in column.items():
            part = height * value / most
            y -= part
            title = f"hour {hour}: {name} {value}"
            if value:
                shapes.append(_rect(x, y, max(width - 1, 0.8), part, colours[name], title))
    return _svg(floor + 24, shapes)


def strip(points: Sequence[tuple[float, float]], hours: float) -> str:
    """A line over the hours of the run."""
    height, floor = 120, 130
    most = max((value for _, value in points), default=0.0) or 1.0
    scale = (_WIDTH - 60) / max(hours, 1.0)
    shapes = [
        _text(0, 20, f"{most:,.0f}", "start", "soft"),
        _text(0, floor, "0", "start", "soft"),
        f'<line x1="50" y1="{floor}" x2="{_WIDTH}" y2="{floor}"/>',
    ]
    places = [(50 + at * scale, floor - height * value / most, value) for at, value in points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places)
    shapes.append(f'<polyline points="{path}" fill="none" stroke="{_BLUE}" stroke-width="1.5"/>')
    shapes += [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{_BLUE}"><title>{value:,.0f}</title>'
        "</circle>"
        for x, y, value in places
    ]
    shapes += [
        _text(50 + 24 * day * scale, floor + 16, f"day {day + 1}", "start", "soft")
        for day in range(int(hours // 24))
    ]
    return _svg(floor + 24, shapes)


def histogram(columns: Sequence[tuple[str, int]]) -> str:
    """A column with a label for each class."""
    height, floor = 120, 136
    most = max((value for _, value in columns), default=0) or 1
    width = (_WIDTH - 40) / max(1, len(columns))
    shapes = []
    for number, (label, value) in enumerate(columns):
        x, part = 40 + number * width, height * value / most
        shapes.append(_rect(x + 4, floor - part, width - 8, part, _BLUE, f"{label}: {value}"))
        shapes.append(_text(x + width / 2, floor - part - 3, str(value), "middle"))
        shapes.append(_text(x + width / 2, floor + 15, label, "middle", "soft"))
    return _svg(floor + 24, shapes)


class Mark(NamedTuple):
    """A mark on a timeline."""

    row: str
    hour: float
    text: str
    colour: str


def timeline(marks: Sequence[Mark], hours: float) -> str:
    """Marks over the hours of a run, in a row for each name."""
    scale = (_WIDTH - 160) / max(hours, 1.0)
    rows = {name: number for number, name in enumerate(sorted({mark.row for mark in marks}))}
    shapes = []
    for name, number in rows.items():
        y = 20 * number + 12
        shapes.append(_text(0, y + 4, name))
        shapes.append(f'<line x1="140" y1="{y}" x2="{_WIDTH}" y2="{y}"/>')
    for mark in marks:
        x, y = 145 + mark.hour * scale, 20 * rows[mark.row] + 12
        shapes.append(
            f'<circle cx="{x:.1f}" cy="{y}" r="4" fill="{mark.colour}">'
            f"<title>{escape(mark.text)}</title></circle>"
        )
    shapes += [
        _text(145 + 24 * day * scale, 20 * len(rows) + 16, f"day {day + 1}", "start", "soft")
        for day in range(max(1, int(hours // 24)))
    ]
    return _svg(20 * len(rows) + 22, shapes)


def _svg(height: float, shapes: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img" xmlns="http://www.w3.org/2000/svg">'
        + "\n".join(shapes)
        + "</svg>"
    )


def _rect(x: float, y: float, width: float, height: float, colour: str, title: str) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        f' fill="{colour}"><title>{escape(title)}</title></rect>'
    )


def _text(x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(text)}</text>'
    )
