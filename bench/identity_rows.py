"""Measure authentication, login including the password hash, and long lists."""

import time
from collections.abc import Callable
from itertools import cycle
from statistics import median

from sqlalchemy import text

from app import endpoints
from app.identity.api_keys import service as api_keys
from app.kit import db, secrets, tenancy
from app.kit.api import operation
from app.kit.api.documentation import list_operations
from app.kit.ids import uuid7
from app.kit.permissions import Role
from app.kit.prepared import Prepared
from app.kit.principal import Caller, Organization
from bench import filling, load
from bench.report import Report
from bench.requests_base import RequestMeasurements
from bench.service import Service
from tests.factories import Org, make_org
from tests.factories.labels import Labeled
from tests.factories.orgs import PASSWORD, _password_hash

_ROUND_TRIP = Prepared("bench_trip", "", "SELECT 1")
_SESSION = """
INSERT INTO sessions (id, user_id, issued_at, last_seen_at, expires_at, token_version)
VALUES (gen_random_uuid(), %(user)s, now(), now(), now() + interval '8 hours', 1)
"""
_CALLERS = 100
_ROUNDS = 50
_LOGINS = 60


def measure(report: Report, service: Service, names: set[str], rows: int, seconds: float) -> None:
    """Run the benchmarks in `names`, or all benchmarks if `names` is empty.

    `rows` is the number of records in each measured list.
    """

    def is_selected(name: str) -> bool:
        return not names or name in names

    if is_selected("token") or is_selected("key"):
        org = make_org(service.app)
        if is_selected("token"):
            _measure_authentication(report, service, "token", 2.5, _create_token_headers(org))
        if is_selected("key"):
            _measure_authentication(report, service, "API key", 3.5, _create_key_headers(org))
    if is_selected("hash"):
        _measure_login(report, service, make_org(service.app))
    if any(is_selected(name) for name in ("members", "teams", "audit")):
        _measure_lists(report, service, is_selected, rows, seconds)


def _create_token_headers(org: Org) -> list[dict[str, str]]:
    """Create many users of one organization, and return their request headers."""
    for number in range(_CALLERS):
        org.add_user(f"person{number}", "viewer")
    return [org.api(f"person{number}").headers() for number in range(_CALLERS)]


def _create_key_headers(org: Org) -> list[dict[str, str]]:
    """Create many recently used API keys of one organization, and return their request headers."""
    owner = Caller(
        user_id=org.users["owner"],
        email="",
        name="",
        session_id=None,
        token_id=None,
        expires_at=None,
        organization=Organization(org.id, org.slug, "active"),
        role=Role.owner,
    )
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        keys = [api_keys.create(owner, name=f"Key {n}", role="viewer").key for n in range(_CALLERS)]
        session.execute(text("UPDATE api_keys SET last_used_at = now()"))
    return [{"X-API-Key": key} for key in keys]


def _measure_authentication(
    report: Report, service: Service, method: str, bound: float, callers: list[dict[str, str]]
) -> None:
    """Measure the function with which routes authenticate a caller.

    The floor is the round trip of a statement that does nothing. Every authentication that queries
    the database needs a round trip. `bound` is a number of round trips, so that it means the same
    on any machine.
    """
    listing = next(
        op for op in list_operations(endpoints.BLUEPRINTS) if op.name == "list_artifacts"
    )
    times, round_trips = [], []
    with service.app.app_context():
        for number, headers in enumerate(cycle(callers)):
            with service.app.test_request_context(f"/api/v1{listing.path}", headers=headers):
                tenancy.bind(None)
                db.set_read_only(read_only=True)
                times.append(_time(lambda: operation._authenticate(listing, {})))  # noqa: SLF001
                round_trips.append(_time(_ROUND_TRIP.first))
            if number == _ROUNDS * len(callers):
                break
    tenancy.bind(None)
    db.set_read_only(read_only=False)
    # The first request of each caller fills caches and does not count.
    ours, round_trip = (median(seconds[len(callers) :]) for seconds in (times, round_trips))
    report.add_times(f"authentication by {method}", ours, round_trip, bound, "a trip", digits=3)


def _time(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _measure_login(report: Report, service: Service, org: Org) -> None:
    """Measure consecutive logins. Each login is followed by a measurement of the floor.

    The floor is the minimum work of a login: verifying the password hash, and inserting a session
    with plain SQL.
    """
    body = {"email": org.email("labeler"), "password": PASSWORD}
    request = load.build_json_request("POST", "/api/v1/auth/login", {}, body)
    connection = load.Connection(service.base)
    logins, floors = [], []

    def login() -> None:
        status, response = connection.send(request)
        assert status == 200, response

    with filling.open_cursor(service) as cursor:

        def verify_and_insert() -> None:
            secrets.verify_password(_password_hash(), PASSWORD)
            cursor.execute(_SESSION, {"user": str(org.users["labeler"])})

        for _ in range(_LOGINS):
            logins.append(_time(login))
            floors.append(_time(verify_and_insert))
    name = "login, and only its hash and session"
    report.add_times(name, median(logins[5:]), median(floors[5:]), 1.6)


class _ListMeasurement(RequestMeasurements):
    """The measurement of one long list of an organization."""

    reader = "admin"

    def __init__(self, service: Service, org: Org, title: str, path: str, count: int) -> None:
        no_documents = Labeled(uuid7(), uuid7(), [], db.utc_now(), count)
        super().__init__(service, org, no_documents, 0)
        self.title = title
        self.path = path

    def _get_prepare_functions(self) -> dict[str, Callable[[], object]]:
        return {
            "rows": lambda: self._prepare_pages("rows", self.path, self.title, self.labeled.count)
        }


def _measure_lists(
    report: Report, service: Service, is_selected: Callable[[str], bool], rows: int, seconds: float
) -> None:
    began = time.perf_counter()
    people, audited = make_org(service.app), make_org(service.app)
    if is_selected("members") or is_selected("teams"):
        filling.create_members(service, people, rows)
    if is_selected("audit"):
        filling.create_audit_entries(service, audited, rows)
    filling.analyze(service)
    seconds_taken = time.perf_counter() - began
    print(f"{rows:,} members, teams and audit entries in {seconds_taken:.1f} s", flush=True)
    for name, org, path in (
        ("members", people, f"/organizations/{people.slug}/members"),
        ("teams", people, "/teams"),
        ("audit", audited, f"/organizations/{audited.slug}/audit-log"),
    ):
        if is_selected(name):
            measurement = _ListMeasurement(service, org, name, path, rows)
            measurement.seconds = seconds
            measurement.measure(report, set())
