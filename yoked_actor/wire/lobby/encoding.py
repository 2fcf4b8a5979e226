"""How a message is encoded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

_encoder = msgspec.json.Encoder()
encode: Callable[[Any], bytes] = _encoder.encode
"""The bytes of a reply, an event or an HTTP body."""
