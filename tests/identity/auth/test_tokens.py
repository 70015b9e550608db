"""Access tokens of every wrong kind, each refused with the right code; and what ends a good one."""

import base64
import json
import time
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from sqlalchemy import text

from app.kit import container, db
from tests.factories import Org
from tests.factories.errors import check_error
from tests.factories.orgs import Api
from tests.factories.statements import record_prepared
from tests.identity.auth.conftest import Person, code

Forge = Callable[[dict[str, Any], str], str]


def _key() -> str:
    return container.settings().secret_key


def _sign_token(claims: dict[str, Any], **changes: Any) -> str:
    kept = {name: value for name, value in {**claims, **changes}.items() if value is not None}
    return jwt.encode(kept, _key(), algorithm="HS256")


def _sign_with_other_hash(claims: dict[str, Any]) -> str:
    with pytest.warns(jwt.warnings.InsecureKeyLengthWarning):
        return jwt.encode(claims, _key(), algorithm="HS512")


def _rsa(claims: dict[str, Any]) -> str:
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return jwt.encode(claims, pem.decode(), algorithm="RS256")


def _replace_header(token: str, **members: Any) -> str:
    """The token under another header, its signature as it was."""
    _, payload, signature = token.split(".")
    header = base64.urlsafe_b64encode(json.dumps({"typ": "JWT", **members}).encode()).rstrip(b"=")
    return f"{header.decode()}.{payload}.{signature}"


FORGED: dict[str, Callable[[dict[str, Any], str], str]] = {
    "no algorithm": lambda c, _: jwt.encode(c, None, algorithm="none"),
    "no algorithm, signature kept": lambda _, t: _replace_header(t, alg="none"),
    "no algorithm, other case": lambda _, t: _replace_header(t, alg="nOnE"),
    "no algorithm, signature gone": lambda _, t: (
        _replace_header(t, alg="none").rpartition(".")[0] + "."
    ),
    "an RSA key of theirs": lambda c, _: _rsa(c),
    "RS256 over our signature": lambda _, t: _replace_header(t, alg="RS256"),
    "another hash": lambda c, _: _sign_with_other_hash(c),
    "another key": lambda c, _: jwt.encode(c, "x" * 40, algorithm="HS256"),
    "a key of their choice by kid": lambda _, t: _replace_header(
        t, alg="HS256", kid="../../dev/null"
    ),
    "a key in the header": lambda _, t: _replace_header(
        t, alg="HS256", jwk={"kty": "oct", "k": "eA"}
    ),
    "another issuer": lambda c, _: _sign_token(c, iss="another"),
    "no issuer": lambda c, _: _sign_token(c, iss=None),
    "no subject": lambda c, _: _sign_token(c, sub=None),
    "no session": lambda c, _: _sign_token(c, sid=None),
    "no version": lambda c, _: _sign_token(c, tv=None),
    "no expiry": lambda c, _: _sign_token(c, exp=None),
    "a subject that is no id": lambda c, _: _sign_token(c, sub="1 OR 1=1"),
    "a refresh token": lambda c, _: _sign_token(c, type="refresh"),
    "truncated": lambda _, t: t[:-1],
    "cut in half": lambda _, t: t[: len(t) // 2],
    "no signature": lambda _, t: t.rpartition(".")[0],
    "another payload": lambda c, t: ".".join(
        [t.split(".")[0], _sign_token(c, tv=2).split(".")[1], t.split(".")[2]]
    ),
    "twice": lambda _, t: f"{t}{t}",
    "a very long one": lambda _, t: t + "x" * 6000,
}


@pytest.mark.parametrize("kind", FORGED)
def test_a_token_that_is_none_of_ours(org: Org, kind: str) -> None:
    good = org.tokens["owner"]
    claims = jwt.decode(good, options={"verify_signature": False})
    forged = FORGED[kind](claims, good)
    assert forged != good
    answer = Api(org.app.test_client(), forged, None).get("/auth/session")
    check_error(answer, 401, "invalid_credentials")


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": int(time.time()) - 1},
        {"tv": 2},
        {"sid": "01980000-0000-7000-8000-000000000000"},
    ],
    ids=["expired", "another version", "a session that is gone"],
)
def test_a_token_that_was_good_once(org: Org, changes: dict[str, Any]) -> None:
    claims = jwt.decode(org.tokens["owner"], options={"verify_signature": False})
    answer = Api(org.app.test_client(), _sign_token(claims, **changes), None).get("/auth/session")
    check_error(answer, 401, "token_expired")


def test_the_clock_of_the_machine_that_issued_a_token_may_be_a_minute_ahead(org: Org) -> None:
    claims = jwt.decode(org.tokens["owner"], options={"verify_signature": False})
    now = int(time.time())
    for seconds, status in ((30, 200), (300, 401)):
        token = _sign_token(claims, iat=now + seconds)
        answer = Api(org.app.test_client(), token, None).get("/auth/session")
        assert answer.status_code == status, answer.json


def test_a_token_of_another_purpose_is_no_access_token(person: Person) -> None:
    mailed = person.token("Confirm")
    assert code(person.device(mailed).get("/users/me")) == "invalid_credentials"
    body = {"token": mailed, "password": "another river meets"}
    answer = person.device().post("/auth/password-reset/confirm", body)
    check_error(answer, 400, "validation_error", field="token")
    answer = person.device().post("/auth/email-change/confirm", {"token": person.api.token})
    assert answer.status_code == 422  # longer than any mailed token


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE users SET disabled_at = now() WHERE id = :user",
        "UPDATE users SET token_version = token_version + 1 WHERE id = :user",
        "UPDATE sessions SET revoked_at = now() WHERE user_id = :user",
        "UPDATE sessions SET expires_at = now() WHERE user_id = :user",
        "DELETE FROM sessions WHERE user_id = :user",
    ],
)
def test_what_ends_a_token_ends_it_at_the_very_next_request(org: Org, statement: str) -> None:
    api = org.api("labeler")
    assert api.get("/artifacts").status_code == 200
    # Another connection, as another worker's would be.
    with org.app.app_context(), db.engine().begin() as connection:
        connection.execute(text(statement), {"user": org.users["labeler"]})
    check_error(api.get("/artifacts"), 401, "token_expired")
    assert org.api("viewer").get("/artifacts").status_code == 200


def test_a_removed_member_is_out_at_the_very_next_request(org: Org) -> None:
    api = org.api("labeler")
    assert api.get("/artifacts").status_code == 200
    with org.app.app_context(), db.engine().begin() as connection:
        connection.execute(text("SELECT set_config('app.all_organizations', 'on', true)"))
        remove = "DELETE FROM memberships WHERE user_id = :user"
        assert connection.execute(text(remove), {"user": org.users["labeler"]}).rowcount == 1
    check_error(api.get("/artifacts"), 403, "permission_denied")
    assert api.get("/auth/session").json["data"]["organizations"] == []


def test_proving_a_caller_is_one_statement(org: Org) -> None:
    """Revocation, membership, role and version come with the same row."""
    api = org.api("viewer")
    api.get("/schemas")
    with record_prepared() as calls:
        assert api.get("/schemas").status_code == 200
    names = [prepared.name for prepared, _ in calls]
    assert names.count("authenticate") == 1
    assert not [name for name in names if name.startswith("touch")]
