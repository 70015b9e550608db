"""Invalid ID tokens and responses; each of them must be refused."""

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from joserfc import jwe, jwt
from joserfc.jwk import RSAKey
from sqlalchemy import update
from werkzeug.test import TestResponse

from app.identity.sso.keys import MAX_AGE
from app.identity.sso.models import ProviderState
from app.kit import db, tenancy
from tests.factories import Org
from tests.factories.errors import check_error
from tests.identity.sso.conftest import Browser, build_sso_body, put
from tests.identity.sso.hostile import CLIENT, Hostile, b64, new_key

NOW = int(time.time())
DAY = 24 * 3600
"""Longer than all tests take: `NOW` is read when they begin."""
_OTHER = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})


@pytest.fixture
def sign_in(org: Org, browser: Browser, hostile: Hostile) -> Callable[..., TestResponse]:
    """Configure, start, agree and come back; `changes` modify the callback's parameters."""

    def act(**changes: str | None) -> TestResponse:
        if put(org, build_sso_body(hostile)).status_code != 200:
            raise AssertionError("the provider's metadata is not what is tested here")
        return browser.complete_sign_in_at(hostile, org, **changes)

    act.again = partial(browser.complete_sign_in_at, hostile, org)  # type: ignore[attr-defined]
    return act


def _check_refused(answer: TestResponse, words: str) -> None:
    assert words in check_error(answer, 401, "invalid_credentials")["message"]


def _parts(header: bytes, payload: bytes, signature: str) -> str:
    return f"{b64(header)}.{b64(payload)}.{signature}"


def _unsigned(header: dict[str, Any], claims: dict[str, Any]) -> str:
    parts = (json.dumps(part).encode() for part in ({**header, "alg": "none"}, claims))
    return ".".join([*map(b64, parts), ""])


def _build_hmac_signer(key: bytes) -> Callable[[dict[str, Any], dict[str, Any]], str]:
    def sign(header: dict[str, Any], claims: dict[str, Any]) -> str:
        parts = [b64(json.dumps(p).encode()) for p in ({**header, "alg": "HS256"}, claims)]
        signed = ".".join(parts)
        return f"{signed}.{b64(hmac.digest(key, signed.encode(), 'sha256'))}"

    return sign


def test_a_valid_token_is_accepted(sign_in: Any, hostile: Hostile) -> None:
    digest = hashlib.sha256(b"the-access-token").digest()
    hostile.claims = {"at_hash": b64(digest[:16]), "azp": CLIENT, "nbf": NOW - 5}
    assert sign_in().status_code == 200


def test_an_unsigned_token(sign_in: Any, hostile: Hostile) -> None:
    hostile.sign = _unsigned
    _check_refused(sign_in(), "not announced")


def test_an_unsigned_token_of_a_provider_that_announces_none(
    sign_in: Any, hostile: Hostile
) -> None:
    hostile.metadata["id_token_signing_alg_values_supported"] = ["RS256", "none", "HS256"]
    hostile.sign = _unsigned
    _check_refused(sign_in(), "not announced")


@pytest.mark.parametrize("form", ["pem", "jwk", "secret"])
def test_a_shared_secret_in_place_of_a_key(sign_in: Any, hostile: Hostile, form: str) -> None:
    hostile.metadata["id_token_signing_alg_values_supported"] = ["RS256", "HS256"]
    secrets = {
        "pem": hostile.key.as_pem(private=False),
        "jwk": json.dumps(hostile.key.as_dict(private=False)).encode(),
        "secret": b"s",
    }
    hostile.sign = _build_hmac_signer(secrets[form])
    _check_refused(sign_in(), "not announced")


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "another"},
        {"aud": []},
        {"aud": None},
        {"aud": [CLIENT, "another"]},
        {"aud": CLIENT, "azp": "another"},
        {"iss": "https://other.example"},
        {"iss": None},
        {"exp": NOW - 120},
        {"exp": None},
        {"exp": "never"},
        {"exp": True},
        {"iat": NOW + DAY, "exp": NOW + 2 * DAY},
        {"iat": NOW - 3600, "exp": NOW + 3600},
        {"iat": None},
        {"iat": 10**400, "exp": 10**400},
        {"nbf": NOW + DAY},
        {"nonce": "another"},
        {"nonce": None},
        {"nonce": ["another"]},
        {"at_hash": "another"},
        {"at_hash": 7},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": ["mallory"]},
        {"sub": "x" * 256},
    ],
    ids="+".join,
)
def test_claims_that_are_not_for_this_sign_in(
    sign_in: Any, hostile: Hostile, claims: dict[str, Any]
) -> None:
    hostile.claims = claims
    _check_refused(sign_in(), "the ID token")


@pytest.mark.parametrize(
    "token",
    [
        None,
        "",
        7,
        [],
        "x",
        "x.y.z",
        "..",
        "é.é.é",
        "a" * 200_000,
        _parts(b"{}", b"{}", ""),
        _parts(b"[]", b"{}", "x"),
        _parts(b'{"alg": ["RS256"]}', b"{}", "x"),
        _parts(b'{"alg": "RS256", "kid": {}}', b"{}", "x"),
        _parts(b"[" * 300, b"[" * 60_000, "x"),
    ],
    ids=lambda token: str(token)[:30],
)
def test_invalid_tokens(sign_in: Any, hostile: Hostile, token: Any) -> None:
    hostile.token_answer = {"id_token": token}
    _check_refused(sign_in(), "ID token")


def test_deeply_nested_claims(sign_in: Any, hostile: Hostile) -> None:
    def sign(header: dict[str, Any], _claims: dict[str, Any]) -> str:
        from joserfc import jws  # noqa: PLC0415 - signs what no library would write

        return jws.serialize_compact(header, b"[" * 60_000, hostile.key)

    hostile.sign = sign
    _check_refused(sign_in(), "not signed with a key")


def test_another_key_under_the_same_name(sign_in: Any, hostile: Hostile) -> None:
    hostile.sign = lambda header, claims: jwt.encode(header, claims, _OTHER)
    _check_refused(sign_in(), "not signed with a key")


def test_a_key_in_the_tokens_header(sign_in: Any, hostile: Hostile) -> None:
    hostile.header = {"jwk": _OTHER.as_dict(private=False)}
    hostile.sign = lambda header, claims: jwt.encode(header, claims, _OTHER)
    _check_refused(sign_in(), "the ID token is not")


def test_a_header_that_must_be_understood(sign_in: Any, hostile: Hostile) -> None:
    def sign(header: dict[str, Any], claims: dict[str, Any]) -> str:
        from joserfc.jws import JWSRegistry  # noqa: PLC0415 - the honest one would not sign it
        from joserfc.registry import HeaderParameter  # noqa: PLC0415

        lax = JWSRegistry({"exotic": HeaderParameter("Exotic", "str")}, algorithms=["RS256"])
        critical_header = {**header, "crit": ["exotic"], "exotic": "x"}
        return jwt.encode(critical_header, claims, hostile.key, registry=lax)

    hostile.sign = sign
    _check_refused(sign_in(), "the ID token is not")


def test_an_encrypted_token(sign_in: Any, hostile: Hostile) -> None:
    def encrypt(_header: dict[str, Any], claims: dict[str, Any]) -> str:
        key = RSAKey.generate_key(2048)
        encryption_header = {"alg": "RSA-OAEP", "enc": "A128GCM"}
        return jwt.encode(
            encryption_header,
            claims,
            key,
            registry=jwe.JWERegistry(algorithms=list(encryption_header.values())),
        )

    hostile.sign = encrypt
    _check_refused(sign_in(), "ID token")


def test_the_userinfo_of_another_subject(sign_in: Any, hostile: Hostile) -> None:
    hostile.claims = {"email": None}
    hostile.userinfo = {"sub": "the-boss", "email": "boss@hostile.example"}
    _check_refused(sign_in(), "another subject")


def test_a_response_without_an_issuer(sign_in: Any) -> None:
    _check_refused(sign_in(iss=None), "which provider")


def test_a_response_of_another_provider(sign_in: Any, hostile: Hostile) -> None:
    _check_refused(sign_in(iss="https://honest.example"), "another provider")
    assert hostile.asked["/token"] == 0, "the code must go to nobody"


def test_an_issuer_is_compared_even_where_it_was_not_announced(
    sign_in: Any, hostile: Hostile
) -> None:
    hostile.metadata["authorization_response_iss_parameter_supported"] = None
    _check_refused(sign_in(iss="https://honest.example"), "another provider")
    assert sign_in.again(iss=None).status_code == 200


def test_keys_are_rotated(sign_in: Any, hostile: Hostile) -> None:
    assert sign_in().status_code == 200
    fetched = hostile.asked["/jwks"]
    assert sign_in.again().status_code == 200
    assert hostile.asked["/jwks"] == fetched, "known keys are not asked for"
    hostile.key = new_key("two")
    assert sign_in.again().status_code == 200
    assert sign_in.again().status_code == 200
    assert hostile.asked["/jwks"] == fetched + 1


def test_unknown_keys_are_fetched_ten_times_per_minute(sign_in: Any, hostile: Hostile) -> None:
    assert sign_in().status_code == 200
    fetched = hostile.asked["/jwks"]
    hostile.header = {"kid": "nobody's"}
    answers = [sign_in.again() for _ in range(12)]
    assert hostile.asked["/jwks"] == fetched + 10
    assert [a.status_code for a in answers] == [401] * 10 + [503] * 2


def test_a_withdrawn_key_is_soon_refused(org: Org, sign_in: Any, hostile: Hostile) -> None:
    assert sign_in().status_code == 200
    hostile.published = [new_key("two").as_dict(private=False)]
    assert sign_in.again().status_code == 200
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        aged = ProviderState.fetched_at - (MAX_AGE + timedelta(seconds=1))
        session.execute(update(ProviderState).values(fetched_at=aged))
    _check_refused(sign_in.again(), "not signed with a key")


def test_keys_that_cannot_sign_are_not_stored(org: Org, sign_in: Any, hostile: Hostile) -> None:
    good = hostile.key.as_dict(private=False)
    hostile.published = [
        7,
        {"kty": "oct", "k": "c2VjcmV0", "kid": "one"},
        {"kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "one"},
        {**good, "use": "enc"},
        {**good, "n": "x" * 5000},
        {**good, "kid": "\x00"},
        {"kty": ["RSA"]},
        good,
    ]
    assert sign_in().status_code == 200
    with org.app.app_context(), tenancy.organization(org.id):
        kept = db.session().query(ProviderState).one().keys["keys"]
    assert [key["kid"] for key in kept] == ["one"]
    assert "d" not in kept[0]
