"""`flask billing usage` and `flask billing reconcile`."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.billing.usage.service import upkeep
from app.kit import tenancy
from app.kit.plan_limits import Meter
from tests.factories import Org
from tests.factories.counts import insert_artifacts, run_sql
from tests.factories.scrape import build_series_key, scrape
from tests.factories.usage import find_usage_differences, fold_usage, measure, set_plan

WRONG = 3
"""The exit status of a command that found something."""


def _delete_changes(org: Org, meter: str) -> None:
    """Lose the changes of a meter."""
    sql = "DELETE FROM usage_changes WHERE organization_id = :org AND meter = :meter"
    run_sql(org, sql, meter=meter)


def test_usage_with_limits(flask: Any, org: Org) -> None:
    insert_artifacts(org, 9)
    set_plan(org, "team", {"documents_per_month": 10})
    rows = flask.json("billing", "usage", org.slug)
    assert [row["meter"] for row in rows] == list(Meter)
    assert rows[1] == {
        "organization": org.slug, "plan": "team", "meter": "documents_per_month", "used": 9,
        "limit": 10, "warning": "near_limit",
    }  # fmt: skip
    shown = flask.run_ok("billing", "usage", org.slug).stdout
    assert shown.splitlines()[0].split() == [
        *("organization", "plan", "meter", "used", "limit", "warning")
    ]
    everybody = flask.json("billing", "usage")
    assert [row for row in everybody if row["organization"] == org.slug] == rows


def test_meters_that_agree(flask: Any, org: Org) -> None:
    insert_artifacts(org, 4)
    assert flask.json("billing", "reconcile", org.slug) == []
    assert flask.run_ok("billing", "reconcile", org.slug).stdout == ""
    assert flask.json("billing", "reconcile", org.slug, "--repair") == []


def test_a_difference_is_reported_and_only_repaired_on_demand(flask: Any, org: Org) -> None:
    insert_artifacts(org, 4, start="2024-03-05T01:00:00Z")
    _delete_changes(org, Meter.DOCUMENTS)
    wrong = [{"organization": org.slug, "meter": Meter.DOCUMENTS, "counted": 4, "metered": 0}]
    for _ in range(2):
        result = flask.run("billing", "reconcile", org.slug)
        assert (result.exit_code, Meter.DOCUMENTS in result.stdout) == (WRONG, True)
    assert find_usage_differences(org)
    assert flask.json("billing", "reconcile", org.slug, "--repair") == wrong
    assert flask.json("billing", "reconcile", org.slug) == []
    # What was missing counts in the month in which it was created.
    march, april = datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 4, 1, tzinfo=UTC)
    assert measure(org, march, april)[Meter.DOCUMENTS] == 4
    fold_usage(org.app)
    assert measure(org, march, april)[Meter.DOCUMENTS] == 4
    assert flask.json("billing", "reconcile", org.slug) == []


def test_a_settled_month_does_not_change(flask: Any, org: Org) -> None:
    insert_artifacts(org, 4, start="2024-03-05T01:00:00Z")
    _delete_changes(org, Meter.DOCUMENTS)
    march, april, may = (datetime(2024, month, 1, tzinfo=UTC) for month in (3, 4, 5))
    assert measure(org, march, april, settle=True)[Meter.DOCUMENTS] == 0
    flask.json("billing", "reconcile", org.slug, "--repair")
    fold_usage(org.app)
    assert measure(org, march, april)[Meter.DOCUMENTS] == 0
    assert measure(org, april, may)[Meter.DOCUMENTS] == 4


@pytest.mark.parametrize("folded", [True, False])
def test_too_much_is_taken_back_today(flask: Any, org: Org, folded: bool) -> None:
    insert_artifacts(org, 4, start="2024-03-05T01:00:00Z")
    if folded:
        fold_usage(org.app)
    sql = "INSERT INTO usage_changes (organization_id, meter, day, added) VALUES (:org, :m, :d, 3)"
    run_sql(org, sql, m=Meter.STORED_BYTES, d="2024-03-05")
    [difference] = flask.json("billing", "reconcile", org.slug, "--repair")
    assert (difference["counted"], difference["metered"]) == (4, 7)
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    used = measure(org, today, today + timedelta(days=1))
    assert used[Meter.STORED_BYTES] == 4
    assert flask.json("billing", "reconcile", org.slug) == []


def test_the_nightly_job_reports_and_corrects_nothing(org: Org) -> None:
    insert_artifacts(org, 4)
    _delete_changes(org, Meter.STORED_BYTES)
    key = build_series_key("labeling_usage_differences_total", {"meter": Meter.STORED_BYTES})
    before = scrape(org.app)[key]
    with org.app.app_context(), tenancy.across_organizations(reason="as the job does"):
        assert (org.id, org.slug) in upkeep.list_organizations()
        assert upkeep.report_differences(org.id, org.slug) == 1
    assert scrape(org.app)[key] == before + 1
    assert len(find_usage_differences(org)) == 1


def test_an_organization_that_is_not_there(flask: Any) -> None:
    assert "no such organization" in flask.get_refusal("billing", "usage", "nope")
    assert "no such organization" in flask.get_refusal("billing", "reconcile", "nope")


@pytest.mark.parametrize("command", ["usage", "reconcile"])
def test_help(flask: Any, command: str) -> None:
    assert "SLUG" in flask.run_ok("billing", command, "--help").stdout
