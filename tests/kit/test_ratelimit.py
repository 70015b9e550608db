"""Limits: shared, counted once the caller is proven, and open when the store is down."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from redis.exceptions import ConnectionError as RedisConnectionError

from app.kit import container, ratelimit
from app.kit.ids import uuid7
from app.kit.ratelimit import limiter
from tests.factories import Org
from tests.factories.scrape import counted


@pytest.fixture(autouse=True)
def _on(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(ratelimit, "_store", ratelimit.Store())
    container.current().redis(timeout=5).flushall()
    yield
    container.current().redis(timeout=5).flushall()


def _login(org: Org, address: str) -> Any:
    # Somebody else each time: failures of one account have a limit of their own.
    body = {"email": f"{uuid7().hex}@test.example", "password": "wrong-password"}
    return org.anonymous().post("/auth/login", body, environ_base={"REMOTE_ADDR": address})


def test_the_eleventh_login_of_a_minute_is_refused(org: Org) -> None:
    for left in range(9, -1, -1):
        answer = _login(org, "192.0.2.1")
        assert answer.status_code == 401
        if left == 9:
            # An error carries the headers too.
            assert answer.headers["RateLimit-Limit"] == "10"
    refused = _login(org, "192.0.2.1")
    assert refused.status_code == 429
    assert refused.json["error"]["code"] == "rate_limited"
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert refused.headers["RateLimit-Remaining"] == "0"
    assert _login(org, "192.0.2.2").status_code == 401


def test_forwarded_addresses_are_not_believed_unless_told_to(org: Org) -> None:
    for number in range(10):
        org.anonymous().post(
            "/auth/login",
            {"email": "nobody@test.example", "password": "wrong-password"},
            headers={"X-Forwarded-For": f"198.51.100.{number}"},
            environ_base={"REMOTE_ADDR": "192.0.2.3"},
        )
    assert _login(org, "192.0.2.3").status_code == 429


def test_a_stranger_spends_no_allowance_of_an_organization(org: Org, other_org: Org) -> None:
    for _ in range(12):
        api = other_org.api("owner", slug=org.slug)
        assert api.post("/exports", {"format": "jsonl"}).status_code == 403
    answer = org.api("reviewer").post("/exports", {"format": "jsonl"})
    assert answer.status_code == 202
    assert answer.headers["RateLimit-Remaining"] == "9"


def test_the_limit_of_an_organization_is_its_own(org: Org, other_org: Org) -> None:
    codes = [
        org.api("reviewer").post("/exports", {"format": "jsonl"}).status_code for _ in range(11)
    ]
    assert codes == [202] * 10 + [429]
    assert other_org.api("reviewer").post("/exports", {"format": "jsonl"}).status_code == 202


def test_a_store_that_is_down_lets_requests_pass_without_delay(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def hang(*_: Any) -> bool:
        asked.append(1)
        raise RedisConnectionError

    monkeypatch.setattr(type(limiter.limiter), "hit", hang)
    # Longer than the requests take on however busy a machine; the store is this test's own.
    monkeypatch.setattr(ratelimit._store, "pause_seconds", 3600.0)
    before = counted(org.app, "labeling_rate_limit_store_failures_total")
    for _ in range(15):
        assert _login(org, "192.0.2.4").status_code == 401
    # After the first failure the store is left alone: 15 requests, one question.
    assert len(asked) == 1
    assert counted(org.app, "labeling_rate_limit_store_failures_total") == before + 1
