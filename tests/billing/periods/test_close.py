"""Closing a month: once, for every organization that had it."""

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, text

from app.billing.periods import emitted_events, service
from app.billing.seller.configuration import BillingFileError
from app.kit import db, tenancy
from app.kit.events import OutboxEvent
from tests.factories import Org, make_org, operator
from tests.factories.counts import run_sql
from tests.factories.errors import check_error
from tests.factories.orgs import get_data
from tests.factories.queueing import run_concurrently
from tests.factories.statements import record_statements

PATH = "/internal/billing/close-period"
# A month of its own for each test: closing one is for good. Organizations of tests are of today.
_MONTHS = itertools.count()


@pytest.fixture
def month() -> str:
    number = next(_MONTHS)
    return f"{2000 + number // 12}-{number % 12 + 1:02}"


def update_organization(
    org: Org, created_at: str, status: str = "active", *, closed_at: str | None = None
) -> None:
    run_sql(
        org,
        "UPDATE organizations SET created_at = :created_at, status = :status,"
        " closed_at = :closed_at WHERE id = :org",
        created_at=created_at,
        status=status,
        closed_at=closed_at,
    )


def list_closed_events(org: Org, period: str) -> list[dict[str, Any]]:
    with org.app.app_context(), tenancy.organization(org.id):
        statement = select(OutboxEvent.data).filter_by(
            organization_id=org.id, name=emitted_events.CLOSED
        )
        return [data for data in db.session().scalars(statement) if data["period"] == period]


@pytest.fixture
def old_org(org: Org) -> Iterator[Org]:
    """An organization that was there before all months of these tests."""
    update_organization(org, "1999-12-31T00:00:00Z")
    yield org
    update_organization(org, "2026-11-01T00:00:00Z")


def test_each_organization_of_the_month_gets_an_event(app: Flask, old_org: Org, month: str) -> None:
    later, suspended, closed, erased, erasing, gone = (make_org(app) for _ in range(6))
    update_organization(suspended, "1999-12-31T00:00:00Z", "suspended")
    update_organization(closed, "1999-12-31T00:00:00Z", "closed")
    update_organization(erased, "1999-12-31T00:00:00Z", "erased")
    run_sql(erased, "UPDATE organizations SET erasure = '{}' WHERE id = :org")
    update_organization(erasing, "1999-12-31T00:00:00Z", "closed")
    run_sql(erasing, "UPDATE organizations SET erasure = '{}' WHERE id = :org")
    update_organization(gone, "1999-12-30T00:00:00Z", "closed", closed_at="1999-12-31T00:00:00Z")
    data = get_data(operator(app).post(PATH, json={"period": month}), 202)
    start, end = service.get_bounds(month)
    assert data["period"] == month
    assert data["from"] == start.isoformat().replace("+00:00", "Z")
    assert data["to"] == end.isoformat().replace("+00:00", "Z")
    assert data["organizations"] >= 3
    expected = {"period": month, "from": data["from"], "to": data["to"]}
    assert [list_closed_events(o, month) for o in (old_org, suspended, closed)] == [[expected]] * 3
    assert [list_closed_events(o, month) for o in (later, erased, erasing, gone)] == [[]] * 4
    for organization in (suspended, closed, erased, erasing, gone):
        update_organization(organization, "2026-11-01T00:00:00Z")


def test_closing_again_answers_the_same(app: Flask, old_org: Org, month: str) -> None:
    first = operator(app).post(PATH, json={"period": month})
    again = operator(app).post(PATH, json={"period": month})
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json == again.json
    assert len(list_closed_events(old_org, month)) == 1


def test_closed_by_many_at_once(app: Flask, old_org: Org, month: str) -> None:
    def close() -> Any:
        return operator(app).post(PATH, json={"period": month})

    answers = run_concurrently(*[close] * 6)
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.data for answer in answers}) == 1
    assert len(list_closed_events(old_org, month)) == 1


def test_statements_do_not_grow_with_the_organizations(
    app: Flask, old_org: Org, month: str
) -> None:
    others = [make_org(app) for _ in range(3)]
    for other in others:
        update_organization(other, "1999-12-31T00:00:00Z")
    with record_statements(app) as statements, app.app_context(), db.transaction():
        service.close(period=month)
    assert len(statements) == 5
    assert all(len(list_closed_events(other, month)) == 1 for other in others)
    for other in others:
        update_organization(other, "2026-11-01T00:00:00Z")


def test_nothing_is_closed_without_a_billing_file(
    app: Flask, old_org: Org, month: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_nothing() -> None:
        raise BillingFileError("is not set")

    monkeypatch.setattr(service, "require_configuration", find_nothing)
    for _ in range(2):
        answer = operator(app).post(PATH, json={"period": month})
        check_error(answer, 409, "conflict", details={"state": "open"})
        assert "BILLING_FILE is not set" in answer.json["error"]["message"]
    assert list_closed_events(old_org, month) == []
    with app.app_context():
        counted = text("SELECT count(*) FROM billing_periods WHERE period = :month")
        assert db.session().scalar(counted, {"month": month}) == 0
    # A month that is closed stays closed, and the response is the same as before.
    monkeypatch.undo()
    closed = operator(app).post(PATH, json={"period": month})
    monkeypatch.setattr(service, "require_configuration", find_nothing)
    again = operator(app).post(PATH, json={"period": month})
    assert (again.status_code, again.json) == (202, closed.json)


def test_a_month_that_has_not_ended(app: Flask) -> None:
    # In the last seconds of a month it is the next that has not ended yet.
    soon = datetime.now(UTC) + timedelta(minutes=1)
    for moment in (soon, soon + timedelta(days=32)):
        answer = operator(app).post(PATH, json={"period": moment.strftime("%Y-%m")})
        check_error(answer, 400, "validation_error", field="period")


@pytest.mark.parametrize(
    "period",
    [
        "2026-13",
        "2026-00",
        "0000-01",
        "9999-12",
        "2026-1",
        "\uff12026-01",
        "2026-10\n",
        " 2026-1",
        7,
    ],
)
def test_what_is_no_month(app: Flask, period: Any) -> None:
    answer = operator(app).post(PATH, json={"period": period})
    assert (answer.status_code, answer.json["error"]["field"]) == (422, "period")


def test_what_is_closed_cannot_be_changed(app: Flask, month: str) -> None:
    operator(app).post(PATH, json={"period": month})
    for sql in ("DELETE FROM billing_periods", "UPDATE billing_periods SET organizations = 0"):
        with app.app_context():
            with pytest.raises(Exception, match="permission denied"):
                db.session().execute(text(sql))
            db.session().rollback()


def test_the_log_records_who_closed_it(app: Flask, month: str) -> None:
    assert operator(app).post(PATH, json={"period": month}).status_code == 202
    sql = text("SELECT * FROM audit_entries WHERE target_label = :month")
    with app.app_context(), tenancy.across_organizations(reason="a test reads the log"):
        entry = db.session().execute(sql, {"month": month}).one()
    assert (entry.action, entry.operation) == ("billing_periods.close", "close_billing_period")
    assert (entry.actor_kind, entry.actor_label) == ("control_plane", "operator")
    assert (entry.target_type, entry.target_id) == ("billing_periods", None)
    assert entry.changes["period"] == [None, month]
