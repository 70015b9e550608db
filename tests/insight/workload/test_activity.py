"""Activity of the caller by day in their own time zone."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from app.kit.days import get_period
from tests.factories.clock import parse_tomorrow
from tests.factories.orgs import get_data
from tests.factories.statements import record_statements
from tests.factories.workspace import Workspace, tag

NOTHING = {
    "submitted": 0,
    "accepted": 0,
    "corrected": 0,
    "rejected": 0,
    "merged": 0,
    "pending": 0,
    "reviewed": 0,
    "seconds_spent": 0,
}


def _get_activity(workspace: Workspace, query: str = "", *, by: str = "labeler") -> dict[str, Any]:
    return dict(get_data(workspace.org.api(by).get(f"/users/me/activity{query}")))


def _submit(workspace: Workspace, seconds: int, schema: Any) -> dict[str, Any]:
    draft = workspace.draft(workspace.artifact(schema))
    get_data(workspace.save(draft, [tag("number", "A-1")], seconds_spent=seconds))
    return dict(get_data(workspace.org.api("labeler").post(f"/tag-sets/{draft['id']}/submit")))


def _move_revision(workspace: Workspace, sent: dict[str, Any], kind: str, when: datetime) -> None:
    workspace.sql(
        "UPDATE tag_set_revisions SET created_at = :when WHERE tag_set_id = :id AND kind = :kind",
        when=when,
        id=sent["id"],
        kind=kind,
    )


def test_days_without_work_are_zeros(workspace: Workspace) -> None:
    activity = _get_activity(workspace, by="viewer")
    tomorrow = parse_tomorrow(activity["to"])
    days = [(tomorrow - timedelta(days=n)).isoformat() for n in range(1, 31)][::-1]
    assert activity == {
        "time_zone": "UTC",
        "from": days[0],
        "to": tomorrow.isoformat(),
        "days": [{"date": day, **NOTHING} for day in days],
        "totals": NOTHING,
        "acceptance_rate": None,
        "unchanged_rate": None,
        "median_seconds": None,
        "label_sets_per_hour": None,
    }


def test_every_submission_counts_with_its_outcome(workspace: Workspace) -> None:
    schema = workspace.schema()
    good, fixed, bad, twice = (_submit(workspace, s, schema) for s in (60, 120, 30, 150))
    workspace.act(good, "accept")
    workspace.act(fixed, "accept", tags=[tag("number", "B-2")])
    workspace.act(bad, "reject", reason="x", send_to="pool")
    workspace.act(twice, "reject", reason="x", send_to="labeler")
    get_data(workspace.org.api("labeler").post(f"/tag-sets/{twice['id']}/submit"))
    # Move the work to one day, in case midnight passed during the test.
    workspace.sql("UPDATE tag_set_revisions SET created_at = '2026-03-02 12:00+00'")
    day = "2026-03-02"
    query = f"?from={day}&to=2026-03-03"
    activity = _get_activity(workspace, query)
    counts = {
        "submitted": 5,
        "accepted": 1,
        "corrected": 1,
        "rejected": 2,
        "merged": 0,
        "pending": 1,
        "reviewed": 0,
        "seconds_spent": 360,
    }
    assert activity["days"] == [{"date": day, **counts}]
    assert activity["totals"] == counts
    assert (activity["acceptance_rate"], activity["unchanged_rate"]) == (0.5, 0.25)
    assert activity["median_seconds"] == 90
    assert activity["label_sets_per_hour"] == 40
    reviewer_activity = _get_activity(workspace, query, by="reviewer")
    assert reviewer_activity["totals"] == {**NOTHING, "reviewed": 4}
    assert reviewer_activity["days"][-1]["reviewed"] == 4
    assert _get_activity(workspace, query, by="admin")["totals"] == NOTHING


def test_merged_submissions_are_an_outcome(workspace: Workspace) -> None:
    artifact = workspace.artifact(workspace.schema(labels_per_artifact=2))
    workspace.org.add_user("second", "labeler")
    sources = [workspace.submitted(artifact, by=by)["id"] for by in ("labeler", "second")]
    _submit(workspace, 10, workspace.schema())
    body = {"tag_set_ids": sources}
    merge = get_data(workspace.org.api("reviewer").post("/tag-sets/merge", json=body), 201)
    assert _get_activity(workspace)["totals"]["pending"] == 2
    workspace.act(merge, "accept")
    activity = _get_activity(workspace)
    totals = activity["totals"]
    assert (totals["submitted"], totals["merged"], totals["pending"]) == (2, 1, 1)
    outcomes = ("accepted", "corrected", "rejected", "merged", "pending")
    assert all(day["submitted"] == sum(day[name] for name in outcomes) for day in activity["days"])
    assert (activity["acceptance_rate"], activity["unchanged_rate"]) == (None, None)


def test_days_are_in_the_time_zone_of_the_user(workspace: Workspace) -> None:
    schema = workspace.schema()
    zone = ZoneInfo("America/New_York")
    before, after, late = (_submit(workspace, 10, schema) for _ in range(3))
    # The clocks went forward on March 8, so that day has 23 hours.
    _move_revision(workspace, before, "submit", datetime(2026, 3, 7, 23, 59, 59, tzinfo=zone))
    _move_revision(workspace, after, "submit", datetime(2026, 3, 8, 0, 0, tzinfo=zone))
    _move_revision(workspace, late, "submit", datetime(2026, 3, 8, 23, 59, tzinfo=zone))
    workspace.sql(
        "UPDATE users SET time_zone = 'America/New_York' WHERE id = :id",
        id=workspace.org.users["labeler"],
    )
    activity = _get_activity(workspace, "?from=2026-03-07&to=2026-03-10")
    assert activity["time_zone"] == "America/New_York"
    assert [(day["date"], day["submitted"]) for day in activity["days"]] == [
        ("2026-03-07", 1),
        ("2026-03-08", 2),
        ("2026-03-09", 0),
    ]
    assert _get_activity(workspace, "?from=2026-03-08&to=2026-03-09")["totals"]["submitted"] == 2


def test_a_decision_counts_on_the_day_of_the_submission(workspace: Workspace) -> None:
    sent = _submit(workspace, 10, workspace.schema())
    workspace.act(sent, "accept")
    _move_revision(workspace, sent, "submit", datetime(2026, 3, 1, 12, tzinfo=UTC))
    _move_revision(workspace, sent, "accept", datetime(2026, 3, 5, 12, tzinfo=UTC))
    query = "?from=2026-03-01&to=2026-03-02"
    assert _get_activity(workspace, query)["days"][0]["accepted"] == 1
    assert _get_activity(workspace, query, by="reviewer")["totals"]["reviewed"] == 0
    later = _get_activity(workspace, "?from=2026-03-05&to=2026-03-06", by="reviewer")
    assert later["totals"]["reviewed"] == 1


def test_an_unknown_time_zone_counts_as_utc() -> None:
    for zone in ("Nowhere/City", "../../etc/passwd", ""):
        assert get_period(zone, date(2026, 1, 1), date(2026, 1, 2)).zone == "UTC"


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Pacific/Apia", "America/Sao_Paulo", "UTC"])
def test_days_follow_one_another(zone: str) -> None:
    period = get_period(zone, date(2011, 1, 1), date(2012, 1, 1))
    assert len(period.days) == 365
    assert period.edges == sorted(period.edges)
    assert len(period.edges) == 366


def test_more_work_takes_no_more_statements(workspace: Workspace) -> None:
    schema, counts = workspace.schema(), []
    year = datetime.now(UTC).date() - timedelta(days=364)
    for _ in range(2):
        for _ in range(5):
            _submit(workspace, 10, schema)
        with record_statements(workspace.org.app) as ran:
            _get_activity(workspace, f"?from={year}")
        counts.append(len(ran))
    assert counts == [3, 3]
