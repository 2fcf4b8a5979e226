"""Names in the form in which they are compared: without case, accents and punctuation."""

from __future__ import annotations

import re
import unicodedata

# Letters that have no decomposition, as people write them without the accent.
_PLAIN = str.maketrans({"ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D"})
_NOT_WORDS = re.compile(r"[\W_]+")


def fold(text: str) -> str:
    """The form of a name in which it is searched: "São Paulo" is "sao paulo"."""
    letters = unicodedata.normalize("NFKD", text.translate(_PLAIN))
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return _NOT_WORDS.sub(" ", plain.casefold()).strip()
