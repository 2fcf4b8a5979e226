"""Text that other people read: names, interests, reports, appeals, and the words of operators.

Characters that are invisible, reorder the text around them, or cover their neighbours are refused.
They serve to imitate another name, to hide words, or to break a page. The text of a person is
checked when it comes in. Text that is stored already is not checked again: it stays readable.

A zero-width joiner is part of many emoji, and tag characters are part of some flags. So emoji
sequences are recognised first, and a zero-width character anywhere else is refused. That includes
the joiner and the non-joiner between letters, which the contract refuses too.
"""

from __future__ import annotations

import re
import unicodedata

MOST_MARKS = 4
"""The most combining marks in a row."""

_PICTOGRAPHS = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9-\u21aa\u231a-\u231b\u2328\u2388"
    "\u23cf\u23e9-\u23f3\u23f8-\u23fa\u24c2\u25aa-\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2605"
    "\u2607-\u2612\u2614-\u2685\u2690-\u2705\u2708-\u2712\u2714\u2716\u271d\u2721\u2728"
    "\u2733-\u2734\u2744\u2747\u274c\u274e\u2753-\u2755\u2757\u2763-\u2767\u2795-\u2797\u27a1"
    "\u27b0\u27bf\u2934-\u2935\u2b05-\u2b07\u2b1b-\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001f0ff\U0001f10d-\U0001f10f\U0001f12f\U0001f16c-\U0001f171"
    "\U0001f17e-\U0001f17f\U0001f18e\U0001f191-\U0001f19a\U0001f1ad-\U0001f1e5"
    "\U0001f201-\U0001f20f\U0001f21a\U0001f22f\U0001f232-\U0001f23a\U0001f23c-\U0001f23f"
    "\U0001f249-\U0001f3fa\U0001f400-\U0001f53d\U0001f546-\U0001f64f\U0001f680-\U0001f6ff"
    "\U0001f774-\U0001f77f\U0001f7d5-\U0001f7ff\U0001f80c-\U0001f80f\U0001f848-\U0001f84f"
    "\U0001f85a-\U0001f85f\U0001f888-\U0001f88f\U0001f8ae-\U0001f8ff\U0001f90c-\U0001f93a"
    "\U0001f93c-\U0001f945\U0001f947-\U0001faff\U0001fc00-\U0001fffd"
)
"""The property Extended_Pictographic of Unicode (UTS #51): what can be joined to an emoji."""
_ONE = f"[{_PICTOGRAPHS}][\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?"
_FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,8}\U000e007f"
_EMOJI = re.compile(f"{_FLAG}|{_ONE}(?:\u200d{_ONE})*")

_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_VISIBLE_FORMAT = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
"""Signs of Arabic, Syriac and Kaithi that Unicode counts as format characters and that are seen."""
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Letters and marks that are drawn as nothing, though they are no format characters."""
_BLANK = frozenset("\u2800")
"""Drawn as a space, though it is a symbol."""


class BadText(ValueError):
    """A text is refused; the message names the field and the reason."""


def check_text(field: str, text: str) -> str:
    """The text, unchanged. Raises `BadText` when it may not be shown to people."""
    marks = 0
    for character in _EMOJI.sub("\u2603", text):
        category = unicodedata.category(character)
        if category[0] == "M" and character not in _FILLERS:
            marks += 1
            if marks > MOST_MARKS:
                raise BadText(f"{field} has more than {MOST_MARKS} combining marks in a row")
            continue
        marks = 0
        problem = _problem_with(character, category)
        if problem is not None:
            raise BadText(f"{field} must not contain {problem} (U+{ord(character):04X})")
    return text


def clean_name(field: str, text: str, longest: int) -> str:
    """A name as it is stored: composed (NFC), without space around it. Raises `BadText`."""
    # Checked before and after: composing can hide marks, and can also make some.
    name = check_text(field, unicodedata.normalize("NFC", check_text(field, text)).strip())
    if not is_visible(name):
        raise BadText(f"{field} is blank")
    if len(name) > longest:
        raise BadText(f"{field} has more than {longest} characters")
    return name


def check_words(field: str, text: str) -> str:
    """As `check_text`; a text of which nothing can be seen is refused too."""
    if not is_visible(check_text(field, text)):
        raise BadText(f"{field} is blank")
    return text


def is_visible(text: str) -> bool:
    """Whether something of a text can be seen."""
    return any(unicodedata.category(one)[0] in "LNPS" and one not in _BLANK for one in text)


def _problem_with(character: str, category: str) -> str | None:
    if category == "Cc":
        return "control characters or line breaks"
    if category in ("Zl", "Zp"):
        return "line breaks"
    if category == "Cs":
        return "half of a surrogate pair"
    if character in _BIDI:
        return "characters that change the direction of text"
    if (category == "Cf" and character not in _VISIBLE_FORMAT) or character in _FILLERS:
        return "invisible characters"
    return None
