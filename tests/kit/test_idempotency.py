"""Idempotency keys: a repeated request gets the first response, and another body is a conflict."""

import json
from hashlib import sha256
from typing import Any

import pytest
from sqlalchemy import text

from app.kit import container, db, idempotency
from tests.factories import Org
from tests.factories.queueing import run_concurrently

URL = "http://127.0.0.2:9/hook"


def _create(org: Org, key: str, url: str = URL, role: str = "admin") -> Any:
    body = {"url": url, "events": ["export.completed"]}
    return org.api(role).post("/webhooks", body, headers={"Idempotency-Key": key})


def _count(org: Org) -> Any:
    return org.api("admin").get("/webhooks").json["meta"]["total"]


def _read_stored_responses(org: Org) -> list[str]:
    with org.app.app_context():
        return list(db.session().scalars(text("SELECT response FROM idempotency_keys")))


def test_a_repeated_request_answers_the_first_response(org: Org) -> None:
    first = _create(org, "k1")
    again = _create(org, "k1")
    assert first.status_code == again.status_code == 201
    assert again.json["data"] == first.json["data"] | {"secret": None}
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.headers.get("ETag") == first.headers.get("ETag")
    assert _count(org) == 1


def test_a_secret_that_is_shown_once_is_not_stored(org: Org) -> None:
    secret = _create(org, "k1").json["data"]["secret"]
    decrypted = [container.keyring().decrypt(stored) for stored in _read_stored_responses(org)]
    webhook_id = org.api("admin").get("/webhooks").json["data"][0]["id"]
    assert any(webhook_id.encode() in response for response in decrypted)
    assert not any(secret.encode() in response for response in decrypted)


def test_another_body_under_the_same_key_is_a_conflict(org: Org) -> None:
    _create(org, "k1")
    answer = _create(org, "k1", url=URL + "2")
    assert answer.status_code == 409
    assert answer.json["error"]["code"] == "conflict"
    assert _count(org) == 1


def test_keys_of_different_callers_and_organizations_do_not_meet(org: Org, other_org: Org) -> None:
    assert _create(org, "k1").json != _create(other_org, "k1").json
    assert "Idempotency-Replayed" not in _create(org, "k1", role="owner").headers
    assert _count(org) == 2


def test_two_at_once_create_one(org: Org) -> None:
    answers = run_concurrently(*[lambda: _create(org, "k1")] * 6)
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json["data"]["id"] for answer in answers}) == 1
    assert sum(answer.json["data"]["secret"] is not None for answer in answers) == 1
    assert _count(org) == 1


def test_a_key_that_is_purged_during_the_request_is_free(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _create(org, "k1").json["data"]
    find_stored_response = idempotency._find_stored_response

    def purge_and_find(scope: bytes) -> Any:
        db.session().execute(
            text("DELETE FROM idempotency_keys WHERE scope = :scope"), {"scope": scope}
        )
        return find_stored_response(scope)

    monkeypatch.setattr(idempotency, "_find_stored_response", purge_and_find)
    answer = _create(org, "k1")
    assert answer.status_code == 201, answer.json
    assert answer.json["data"]["id"] != first["id"]
    assert _count(org) == 2


def test_a_failed_request_leaves_the_key_free(org: Org) -> None:
    assert _create(org, "k1", url="ftp://x").status_code == 400
    assert _create(org, "k1").status_code == 201


@pytest.mark.parametrize("key", ["", "a" * 256, "\u00e9"])
def test_keys_that_are_none_are_refused(org: Org, key: str) -> None:
    answer = _create(org, key)
    assert answer.status_code == 422
    assert answer.json["error"]["field"] == "Idempotency-Key"


def test_the_stored_response_shows_no_secret(org: Org) -> None:
    secret = _create(org, "k1").json["data"]["secret"]
    stored = _read_stored_responses(org)
    assert stored
    assert not any(secret in (response or "") for response in stored)


def test_nobody_can_guess_the_password_in_a_body_by_its_hash(org: Org) -> None:
    body = json.dumps({"url": URL, "events": ["export.completed"]}, separators=(",", ":")).encode()
    headers = {"Idempotency-Key": "k1", "Content-Type": "application/json"}
    assert org.api("admin").post("/webhooks", data=body, headers=headers).status_code == 201
    plain_hash = sha256(body).digest()
    with org.app.app_context(), db.transaction() as session:
        hashes = session.scalars(text("SELECT request_hash FROM idempotency_keys")).all()
        assert plain_hash not in [bytes(request_hash) for request_hash in hashes]
        # Instances of the previous release store such hashes.
        session.execute(
            text("UPDATE idempotency_keys SET request_hash = :hash"), {"hash": plain_hash}
        )
    repeated = org.api("admin").post("/webhooks", data=body, headers=headers)
    assert repeated.headers["Idempotency-Replayed"] == "true"


def test_a_repeated_rotation_rotates_once(org: Org) -> None:
    webhook = _create(org, "k1").json["data"]
    path = f"/webhooks/{webhook['id']}/rotate-secret"
    answers = [org.api("admin").post(path, headers={"Idempotency-Key": "r1"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    first, again = (answer.json["data"] for answer in answers)
    assert again == first | {"secret": None}
    assert first["secret"] != webhook["secret"]
