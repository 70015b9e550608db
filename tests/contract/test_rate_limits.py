"""Generated over every operation with a limit: its allowance, whose it is, who spends none."""

from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from flask import Flask
from redis.exceptions import ConnectionError as RedisConnectionError

from app.kit import container, ratelimit
from app.kit.api.declarations import Operation
from app.kit.permissions import Role
from app.kit.ratelimit import limiter
from tests.contract.conftest import CONTRACT, OPERATIONS, build_path
from tests.factories import Org, make_org, operator
from tests.factories.orgs import Api

_SECONDS = {"minute": 60, "hour": 3600, "60s": 60}
_addresses = (f"198.19.{n // 250}.{n % 250 + 1}" for n in count())


@dataclass(frozen=True)
class Limited:
    """An operation and what the contract's file says of its limit."""

    op: Operation
    allowance: int
    seconds: int
    by: str


def _list_limited() -> list[Limited]:
    operations = []
    for op in OPERATIONS:
        row = CONTRACT[op.name]
        if row.limit:
            amount, by = row.limit.split(" ")
            number, window = amount.split("/")
            operations.append(Limited(op, int(number), _SECONDS[window], by))
    return operations


LIMITED = _list_limited()
BY_ADDRESS = [limited for limited in LIMITED if limited.by == "ip"]
BY_ORGANIZATION = [limited for limited in LIMITED if limited.by == "org"]
PROTECTED = [limited for limited in LIMITED if limited.op.access != "public"]


def _id(limited: Limited) -> str:
    return limited.op.name


@pytest.fixture(autouse=True)
def _enable_rate_limits(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratelimit, "_store", ratelimit.RateLimitStore())
    container.current().redis(timeout=5).flushall()


@pytest.fixture(scope="module")
def first(app: Flask) -> Org:
    return make_org(app)


@pytest.fixture(scope="module")
def second(app: Flask) -> Org:
    return make_org(app)


def _get_caller(limited: Limited, org: Org) -> Api:
    if limited.op.access == "public":
        return org.anonymous()
    if limited.op.access == "control-plane":
        return operator(org.app)
    return org.api("owner")


def _send(limited: Limited, api: Api, org: Org, address: str) -> Any:
    """A request that is counted and then comes to nothing: without members, on no record."""
    # The operator could do something to an organization that is there.
    slug = "no-such" if limited.op.access == "control-plane" else org.slug
    kwargs: dict[str, Any] = {"environ_base": {"REMOTE_ADDR": address}}
    if limited.op.body is not None:
        kwargs["json"] = {}
    return api.request(limited.op.method, build_path(limited.op, slug), **kwargs)


def _use_allowance(limited: Limited, org: Org, address: str) -> None:
    api = _get_caller(limited, org)
    for remaining in reversed(range(limited.allowance)):
        answer = _send(limited, api, org, address)
        assert answer.status_code != 429
        assert answer.headers["RateLimit-Limit"] == str(limited.allowance)
        assert answer.headers["RateLimit-Remaining"] == str(remaining)
        assert 1 <= int(answer.headers["RateLimit-Reset"]) <= limited.seconds + 1


def _is_refused(limited: Limited, answer: Any) -> bool:
    if answer.status_code != 429:
        return False
    assert answer.json["error"]["code"] == "rate_limited"
    assert 1 <= int(answer.headers["Retry-After"]) <= limited.seconds + 1
    assert answer.headers["RateLimit-Limit"] == str(limited.allowance)
    assert answer.headers["RateLimit-Remaining"] == "0"
    assert answer.headers["RateLimit-Reset"] == answer.headers["Retry-After"]
    return True


def test_every_limit_of_the_contract_is_read() -> None:
    limits = {row.operation_id: row.limit for row in CONTRACT.values() if row.limit}
    assert len(limits) == 25
    standing = {op.name for op in OPERATIONS}
    assert {limited.op.name for limited in LIMITED} == {name for name in limits if name in standing}
    assert {limited.op.name for limited in LIMITED} == {op.name for op in OPERATIONS if op.limit}


@pytest.mark.parametrize("limited", BY_ADDRESS, ids=_id)
def test_an_address_has_its_allowance(limited: Limited, first: Org, second: Org) -> None:
    address, another = next(_addresses), next(_addresses)
    _use_allowance(limited, first, address)
    assert _is_refused(limited, _send(limited, _get_caller(limited, first), first, address))
    # Whoever else comes from there is refused as well, and whoever comes from elsewhere is not.
    assert _is_refused(limited, _send(limited, _get_caller(limited, second), second, address))
    assert not _is_refused(limited, _send(limited, _get_caller(limited, first), first, another))


@pytest.mark.parametrize("limited", BY_ORGANIZATION, ids=_id)
def test_an_organization_has_its_allowance(limited: Limited, first: Org, second: Org) -> None:
    address, another = next(_addresses), next(_addresses)
    _use_allowance(limited, first, address)
    assert _is_refused(limited, _send(limited, _get_caller(limited, first), first, address))
    assert _is_refused(limited, _send(limited, first.api("admin"), first, another))
    assert _is_refused(limited, _send(limited, first.key("admin"), first, another))
    assert not _is_refused(limited, _send(limited, _get_caller(limited, second), second, address))


def _list_refused_clients(limited: Limited, org: Org, other: Org) -> list[Api]:
    """Who is refused with 401 or 403 before anything is counted."""
    clients = [org.anonymous(), Api(org.app.test_client(), "garbled", org.slug)]
    clients.append(Api(org.app.test_client(), None, org.slug, "dl_nope"))
    if limited.op.access == "control-plane":
        return [*clients, org.api("owner")]
    if limited.op.in_organization:
        foreign = other.key("admin")
        foreign.slug = org.slug
        clients += [other.api("owner", slug=org.slug), foreign, org.key("admin", read_only=True)]
        clients += [org.api(role.name) for role in Role if role < Role[limited.op.access]]
    return clients


@pytest.mark.parametrize("limited", PROTECTED, ids=_id)
def test_who_is_refused_spends_nothing(limited: Limited, first: Org, second: Org) -> None:
    address = next(_addresses)
    for stranger in _list_refused_clients(limited, first, second):
        answer = _send(limited, stranger, first, address)
        assert answer.status_code in (401, 403)
        assert "RateLimit-Limit" not in answer.headers
    answer = _send(limited, _get_caller(limited, first), first, address)
    assert answer.headers["RateLimit-Remaining"] == str(limited.allowance - 1)


@pytest.mark.parametrize("limited", LIMITED, ids=_id)
def test_without_the_store_everybody_passes(
    limited: Limited, first: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> bool:
        raise RedisConnectionError

    monkeypatch.setattr(type(limiter.limiter), "hit", fail)
    address = next(_addresses)
    for _ in range(limited.allowance + 2):
        answer = _send(limited, _get_caller(limited, first), first, address)
        assert answer.status_code != 429
        assert "RateLimit-Limit" not in answer.headers


_NAMES = sorted({op.limit for op in OPERATIONS if op.limit is not None})


@pytest.mark.parametrize("name", _NAMES)
def test_a_row_of_the_table_is_one_allowance(name: str, first: Org) -> None:
    group = [limited for limited in LIMITED if limited.op.limit == name]
    address = next(_addresses)
    for number in range(group[0].allowance):
        limited = group[number % len(group)]
        assert not _is_refused(limited, _send(limited, _get_caller(limited, first), first, address))
    for limited in group:
        assert _is_refused(limited, _send(limited, _get_caller(limited, first), first, address))
