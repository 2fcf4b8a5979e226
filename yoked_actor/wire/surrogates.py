"""JSON whose texts hold half of a surrogate pair: valid JSON, but no text.

msgspec refuses it in the same way as a message that is no JSON at all. The contract makes a
difference: the former is `bad_request`, the latter ends the connection.
"""

from __future__ import annotations

import re

LONE_SURROGATE = "a text holds half of a surrogate pair"

_ESCAPE = re.compile(
    rb"\\(?:(?P<pair>u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def without_lone_surrogates(raw: bytes) -> bytes | None:
    """The JSON with a replacement for each lone surrogate; None when there is none."""
    found = False

    def replace(match: re.Match[bytes]) -> bytes:
        nonlocal found
        if match["lone"] is None:
            return match[0]
        found = True
        return rb"\ufffd"

    replaced = _ESCAPE.sub(replace, raw)
    return replaced if found else None
