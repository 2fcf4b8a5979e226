"""The ICE servers of a video date, and a user's TURN credentials for them.

A TURN server relays whole calls, so it must not be open to everybody. It shares a secret with this
server: a username is an expiry time and a user id, and its password is a keyed hash of the username
(coturn's `use-auth-secret`). So the TURN server needs no list of users, and leaked credentials soon
expire.
"""

from __future__ import annotations

import hmac
from base64 import b64encode
from typing import Any

from yoked_actor.domain.time import MICROSECONDS, Instant, after
from yoked_actor.settings import DateSettings
from yoked_actor.wire.lobby import IceServers


def ice_servers(settings: DateSettings, user_id: str, now: Instant) -> IceServers:
    """The servers for one user, in the form that browsers take; credentials start now."""
    servers: list[dict[str, Any]] = []
    if settings.stun_urls:
        servers.append({"urls": list(settings.stun_urls)})
    if settings.turn_urls:
        expires_at = after(now, settings.turn_ttl_s) // MICROSECONDS
        username = f"{expires_at}:{user_id}"
        secret = settings.turn_secret.get_secret_value().encode()
        credential = b64encode(hmac.digest(secret, username.encode(), "sha1")).decode()
        urls = list(settings.turn_urls)
        servers.append({"urls": urls, "username": username, "credential": credential})
    return tuple(servers)
