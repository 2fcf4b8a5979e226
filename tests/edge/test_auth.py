"""Tokens: who somebody is, judged by our own clock."""

from __future__ import annotations

import base64
import json
import stat
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pydantic import SecretStr

from yoked_actor.domain.ops import Role
from yoked_actor.domain.time import MICROSECONDS
from yoked_actor.edge.auth import BadToken, Identity, NoSigningKey, Tokens
from yoked_actor.settings import AuthSettings

SECRET = "a secret of at least thirty-two bytes"
NOW_S = 1_800_000_000
NOW = NOW_S * MICROSECONDS
tokens = Tokens("HS256", SECRET)
ANA = Identity("ana", role=None, expires_at=NOW + 60 * MICROSECONDS)


def made(key: Any = SECRET, algorithm: str = "HS256", **claims: Any) -> str:
    """A token, good for a minute unless told otherwise; None leaves a claim out."""
    claims = {"sub": "ana", "exp": NOW_S + 60} | claims
    given = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(given, key, algorithm)


def test_a_good_token_says_who_speaks():
    assert tokens.identify(made(), NOW) == ANA


def test_what_we_sign_we_take():
    signed = tokens.sign("ana", NOW, 60.0)
    assert tokens.identify(signed, NOW + 59 * MICROSECONDS) == ANA


def test_the_role_opens_the_admin_api():
    for role in Role:
        assert tokens.identify(made(role=role.value), NOW).role is role
        assert tokens.identify(tokens.sign("root", NOW, 60.0, role=role), NOW).role is role
    for other in ("user", "Admin", "", None, 7, ["admin"], {"admin": True}):
        assert tokens.identify(made(role=other), NOW).role is None
    assert tokens.identify(tokens.sign("root", NOW, 60.0, admin=True), NOW).role is Role.ADMIN


def test_a_token_is_good_until_the_instant_it_expires():
    token = made()
    assert tokens.identify(token, NOW + 60 * MICROSECONDS - 1).user_id == "ana"
    with pytest.raises(BadToken, match="expired"):
        tokens.identify(token, NOW + 60 * MICROSECONDS)


def test_the_leeway_counts_for_both_ends():
    lenient = Tokens("HS256", SECRET, leeway_s=5)
    assert lenient.identify(made(exp=NOW_S - 4), NOW).user_id == "ana"
    assert lenient.identify(made(nbf=NOW_S + 5), NOW).user_id == "ana"
    with pytest.raises(BadToken, match="expired"):
        lenient.identify(made(exp=NOW_S - 5), NOW)


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        (made(sub=None), "no sub"),
        (made(exp=None), "no exp"),
        (made(exp="soon"), "expired"),
        (made(exp=True), "expired"),
        (made(nbf=NOW_S + 1), "not valid yet"),
        (made(sub="not a user id"), "not the id of a user"),
        (made(sub=""), "not the id of a user"),
        (made(sub="x" * 65), "not the id of a user"),
        (made(key="another secret of thirty-two bytes or so"), "not valid"),
        (made()[:-2], "not valid"),
        (made(key="", algorithm="none"), "not valid"),
        (made(algorithm="HS512", key="k" * 64), "not valid"),
        ("", "not valid"),
        ("a.b.c", "not valid"),
        ("ä.ö.ü", "not valid"),
        ("\0", "not valid"),
        ("." * 1000, "not valid"),
    ],
)
def test_anything_else_is_refused_with_a_reason(token, reason):
    with pytest.raises(BadToken, match=reason):
        tokens.identify(token, NOW)


@pytest.mark.parametrize("header", [b"[" * 9000, b'{"alg":' + b"[" * 9000, b"null", b"[]", b"1"])
def test_a_header_made_to_hurt_is_refused_like_any_other(header):
    token = base64.urlsafe_b64encode(header).rstrip(b"=").decode() + ".e30.c2ln"
    with pytest.raises(BadToken, match="not valid"):
        tokens.identify(token, NOW)


@pytest.mark.parametrize("sub", [7, None, ["ana"], {"id": "ana"}, True])
def test_only_a_text_can_be_a_user(sub):
    payload = json.dumps({"sub": sub, "exp": NOW_S + 60}).encode()
    with pytest.raises(BadToken):
        tokens.identify(jwt.api_jws.encode(payload, SECRET, "HS256"), NOW)


# For whom, and by whom


def test_an_issuer_and_an_audience_are_checked_when_they_are_set():
    ours = Tokens("HS256", SECRET, issuer="https://id.example", audience="dates")
    claims: dict[str, Any] = {"iss": "https://id.example", "aud": "dates"}
    assert ours.identify(made(**claims), NOW).user_id == "ana"
    assert ours.identify(made(**claims | {"aud": ["mail", "dates"]}), NOW).user_id == "ana"
    for wrong, reason in (
        ({"aud": "mail"}, "not for this server"),
        ({"aud": ["mail"]}, "not for this server"),
        ({"aud": None}, "no aud"),
        ({"aud": 7}, "not for this server"),
        ({"iss": "https://id.example/"}, "another issuer"),
        ({"iss": None}, "no iss"),
    ):
        with pytest.raises(BadToken, match=reason):
            ours.identify(made(role="admin", **claims | wrong), NOW)


def test_what_is_not_set_is_not_checked():
    assert tokens.identify(made(iss="anybody", aud=["mail"]), NOW).user_id == "ana"


def test_what_we_sign_has_the_issuer_and_the_audience_that_we_check():
    ours = Tokens("HS256", SECRET, issuer="https://id.example", audience="dates")
    assert ours.identify(ours.sign("ana", NOW, 60.0), NOW).user_id == "ana"
    with pytest.raises(BadToken):
        ours.identify(tokens.sign("ana", NOW, 60.0, admin=True), NOW)


# Keys


@pytest.mark.parametrize("algorithm", ["EdDSA", "RS256"])
def test_a_key_pair_is_judged_by_its_public_half(algorithm, tmp_path):
    private = (
        ed25519.Ed25519PrivateKey.generate()
        if algorithm == "EdDSA"
        else rsa.generate_private_key(65537, 2048)
    )
    pem = tmp_path / "key.pem"
    public = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    pem.write_bytes(public)
    judge = Tokens.from_settings(
        AuthSettings(algorithm=algorithm, public_key_file=str(pem)), dev_data_dir=None
    )
    assert judge.identify(made(private, algorithm), NOW) == ANA
    assert not judge.can_sign
    # The public key is no secret: who signs with it as a secret is nobody.
    forged = jwt.api_jws.encode(b'{"sub":"ana","exp":9999999999}', "x" * 32, "HS256")
    with pytest.raises(BadToken):
        judge.identify(forged, NOW)
    other = ec.generate_private_key(ec.SECP256R1())
    with pytest.raises(BadToken):
        judge.identify(made(other, "ES256"), NOW)


def test_without_a_key_the_start_is_refused_in_words():
    with pytest.raises(NoSigningKey, match=r"auth\.secret"):
        Tokens.from_settings(AuthSettings(), dev_data_dir=None)


def test_a_key_file_that_cannot_be_read_is_named(tmp_path):
    missing = str(tmp_path / "missing.pem")
    with pytest.raises(NoSigningKey, match=r"missing\.pem"):
        Tokens.from_settings(
            AuthSettings(algorithm="EdDSA", public_key_file=missing), dev_data_dir=None
        )


def test_a_development_secret_is_made_once_and_kept_to_oneself(tmp_path):
    data = tmp_path / "data"
    first = Tokens.from_settings(AuthSettings(), dev_data_dir=data)
    token = first.sign("ana", NOW, 60.0)
    again = Tokens.from_settings(AuthSettings(), dev_data_dir=data)
    assert again.identify(token, NOW) == ANA
    [kept] = data.iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_secret_of_the_settings_goes_before_the_development_secret(tmp_path):
    settings = AuthSettings(secret=SecretStr(SECRET))
    judge = Tokens.from_settings(settings, dev_data_dir=tmp_path)
    assert judge.identify(made(), NOW).user_id == "ana"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("claim", ["exp", "nbf"])
@pytest.mark.parametrize("value", [10**400, -(10**400), float("nan"), float("inf"), float("-inf")])
def test_a_time_that_is_none_makes_a_token_bad(claim, value):
    with pytest.raises(BadToken):
        tokens.identify(made(**{claim: value}), NOW)


def test_a_number_with_thousands_of_digits_makes_a_token_bad():
    def part(text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    head = part(json.dumps({"alg": "HS256", "typ": "JWT"}))
    claims = part('{"sub": "ana", "exp": ' + "9" * 5000 + "}")
    key = jwt.get_algorithm_by_name("HS256")
    signed = key.sign(f"{head}.{claims}".encode(), SECRET.encode())
    signature = base64.urlsafe_b64encode(signed).decode().rstrip("=")
    with pytest.raises(BadToken):
        tokens.identify(f"{head}.{claims}.{signature}", NOW)
