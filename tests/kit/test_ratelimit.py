"""Rate limits: shared, counted after authentication, and not enforced while the store is down."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from redis.exceptions import ConnectionError as RedisConnectionError

from app.kit import container, ratelimit
from app.kit.ids import uuid7
from app.kit.ratelimit import limiter
from tests.factories import Org
from tests.factories.scrape import get_metric


@pytest.fixture(autouse=True)
def _on(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(ratelimit, "_store", ratelimit.RateLimitStore())
    container.current().redis(timeout=5).flushall()
    yield
    container.current().redis(timeout=5).flushall()


def _login(org: Org, address: str) -> Any:
    # Use another account each time, because failures of one account have a separate limit.
    body = {"email": f"{uuid7().hex}@test.example", "password": "wrong-password"}
    return org.anonymous().post("/auth/login", body, environ_base={"REMOTE_ADDR": address})


def test_the_eleventh_login_of_a_minute_is_refused(org: Org) -> None:
    for remaining in range(9, -1, -1):
        answer = _login(org, "192.0.2.1")
        assert answer.status_code == 401
        if remaining == 9:
            # Errors also have the headers.
            assert answer.headers["RateLimit-Limit"] == "10"
    refused = _login(org, "192.0.2.1")
    assert refused.status_code == 429
    assert refused.json["error"]["code"] == "rate_limited"
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert refused.headers["RateLimit-Remaining"] == "0"
    assert _login(org, "192.0.2.2").status_code == 401


def test_addresses_of_one_ipv6_network_share_an_allowance(org: Org) -> None:
    for number in range(10):
        assert _login(org, f"2001:db8:1:2:{number}::1").status_code == 401
    assert _login(org, "2001:db8:1:2:ffff::1").status_code == 429
    assert _login(org, "2001:db8:1:3::1").status_code == 401


def test_an_ipv4_address_written_as_ipv6_is_the_same_client(org: Org) -> None:
    for _ in range(10):
        assert _login(org, "::ffff:192.0.2.9").status_code == 401
    assert _login(org, "192.0.2.9").status_code == 429
    assert _login(org, "::ffff:192.0.2.10").status_code == 401


@pytest.mark.parametrize("address", ["192.0.2.11:{}", "[2001:db8:1:4::1]:{}"])
def test_the_port_of_a_client_gives_no_other_allowance(org: Org, address: str) -> None:
    """Some proxies, such as Azure's application gateway, forward addresses with ports."""
    for port in range(10):
        assert _login(org, address.format(50_000 + port)).status_code == 401
    assert _login(org, address.format(60_000)).status_code == 429


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
    queries = []

    def hang(*_: Any) -> bool:
        queries.append(1)
        raise RedisConnectionError

    monkeypatch.setattr(type(limiter.limiter), "hit", hang)
    # The pause is longer than the requests take, even on a busy machine.
    monkeypatch.setattr(ratelimit._store, "pause_seconds", 3600.0)
    before = get_metric(org.app, "labeling_rate_limit_store_failures_total")
    for _ in range(15):
        assert _login(org, "192.0.2.4").status_code == 401
    # After the first failure, the store is not used: 15 requests cause one query.
    assert len(queries) == 1
    assert get_metric(org.app, "labeling_rate_limit_store_failures_total") == before + 1
