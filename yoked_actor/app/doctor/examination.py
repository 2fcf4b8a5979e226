"""All checks in their order, with those of the signing key and the certificate."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import trio
from cryptography import x509

from yoked_actor import compiled
from yoked_actor.app.doctor.data_directory import examine_data
from yoked_actor.app.doctor.database import check_postgres
from yoked_actor.app.doctor.finding import Finding
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.edge.auth import NoSigningKey, Tokens
from yoked_actor.edge.net import tls_context
from yoked_actor.settings import EdgeSettings, Settings

_CERTIFICATE_DAYS = 14
_DEV_SECRET = "dev-secret"


def examine(settings: Settings, now: Instant, *, full: bool, dev: bool) -> Iterator[Finding]:
    """Check everything but the configuration file, which is already loaded."""
    yield Finding("build", "ok", compiled.FINDER.description())
    yield _signing_key(settings, dev)
    if settings.edge.tls_certificate:
        yield _certificate(settings.edge, now)
    url = settings.store.url.get_secret_value()
    if url:
        yield from check_postgres(url, settings.store.connect_timeout_s, now)
    else:
        yield from examine_data(settings.server.data_dir, now, full=full)


def _signing_key(settings: Settings, dev: bool) -> Finding:
    kept = settings.server.data_dir if dev else None
    if dev and not settings.auth.secret and not (settings.server.data_dir / _DEV_SECRET).exists():
        return Finding("signing key", "note", "none yet", "`serve --dev` will make one")
    try:
        tokens = Tokens.from_settings(settings.auth, dev_data_dir=kept)
        tokens.check_key()
        if tokens.keys is not None:
            trio.run(tokens.keys.refresh)
            if not tokens.keys:
                raise NoSigningKey(f"no keys could be fetched from {settings.auth.jwks_url}")
    except NoSigningKey as error:
        return Finding(
            "signing key", "problem", str(error), "see docs/operations.md for how to make one"
        )
    missing = settings.auth.unchecked_claims()
    if missing:
        return Finding(
            "signing key",
            "problem",
            f"{settings.auth.algorithm} without {' and '.join(missing)}: a token that was made for"
            " another service is good here, an operator's too",
            f"set {' and '.join(missing)} to what your tokens have",
        )
    return Finding("signing key", "ok", f"{settings.auth.algorithm}")


def _certificate(edge: EdgeSettings, now: Instant) -> Finding:
    try:
        tls_context(edge)
        chain = x509.load_pem_x509_certificates(Path(edge.tls_certificate).read_bytes())
    except (OSError, ssl.SSLError, ValueError) as error:
        return Finding(
            "certificate",
            "problem",
            f"{edge.tls_certificate} and {edge.tls_key} cannot be used: {error}",
            "check that both are PEM files of one key pair, and that the server can read them",
        )
    ends = min(certificate.not_valid_after_utc for certificate in chain)
    days = (ends - to_datetime(now)).days
    text = f"valid until {ends.date()}"
    if days < _CERTIFICATE_DAYS:
        left = "has expired" if days < 0 else f"expires in {days} days"
        return Finding(
            "certificate", "problem", f"{left}: {text}", "renew it, and restart the server"
        )
    return Finding("certificate", "ok", text)
