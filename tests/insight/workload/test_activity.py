"""What the caller did, by the days of their own time zone."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from app.kit.days import get_period
from tests.factories.clock import parse_today
from tests.factories.desk import Desk, tag
from tests.factories.statements import record_statements

NOTHING = {
    "submitted": 0,
    "accepted": 0,
    "corrected": 0,
    "rejected": 0,
    "pending": 0,
    "reviewed": 0,
    "seconds_spent": 0,
}


def _read(desk: Desk, query: str = "", *, by: str = "labeler") -> dict[str, Any]:
    answer = desk.org.api(by).get(f"/users/me/activity{query}")
    assert answer.status_code == 200, answer.json
    return dict(answer.json["data"])


def _sent(desk: Desk, seconds: int, schema: Any) -> dict[str, Any]:
    draft = desk.draft(desk.artifact(schema))
    saved = desk.save(draft, [tag("number", "A-1")], seconds_spent=seconds)
    assert saved.status_code == 200, saved.json
    answer = desk.org.api("labeler").post(f"/tag-sets/{draft['id']}/submit")
    assert answer.status_code == 200
    return dict(answer.json["data"])


def _decide(desk: Desk, sent: dict[str, Any], what: str, **body: Any) -> None:
    answer = desk.org.api("reviewer").post(f"/tag-sets/{sent['id']}/{what}", json=body)
    assert answer.status_code == 200, answer.json


def _at(desk: Desk, sent: dict[str, Any], kind: str, when: datetime) -> None:
    desk.sql(
        "UPDATE tag_set_revisions SET created_at = :when WHERE tag_set_id = :id AND kind = :kind",
        when=when,
        id=sent["id"],
        kind=kind,
    )


def test_days_without_work_are_zeros(desk: Desk) -> None:
    found = _read(desk, by="viewer")
    today = parse_today(found["to"])
    days = [(today - timedelta(days=n)).isoformat() for n in range(30)][::-1]
    assert found == {
        "time_zone": "UTC",
        "from": days[0],
        "to": days[-1],
        "days": [{"date": day, **NOTHING} for day in days],
        "totals": NOTHING,
        "acceptance_rate": None,
        "unchanged_rate": None,
        "median_seconds": None,
        "label_sets_per_hour": None,
    }


def test_every_submission_counts_with_its_outcome(desk: Desk) -> None:
    schema = desk.schema()
    good, fixed, bad, twice = (_sent(desk, s, schema) for s in (60, 120, 30, 150))
    _decide(desk, good, "accept")
    _decide(desk, fixed, "accept", tags=[tag("number", "B-2")])
    _decide(desk, bad, "reject", reason="x", send_to="pool")
    _decide(desk, twice, "reject", reason="x", send_to="labeler")
    again = desk.org.api("labeler").post(f"/tag-sets/{twice['id']}/submit")
    assert again.status_code == 200
    # On one day, whether or not midnight passed meanwhile.
    desk.sql("UPDATE tag_set_revisions SET created_at = '2026-03-02 12:00+00'")
    day = "2026-03-02"
    query = f"?from={day}&to={day}"
    found = _read(desk, query)
    counts = {
        "submitted": 5,
        "accepted": 1,
        "corrected": 1,
        "rejected": 2,
        "pending": 1,
        "reviewed": 0,
        "seconds_spent": 360,
    }
    assert found["days"] == [{"date": day, **counts}]
    assert found["totals"] == counts
    assert (found["acceptance_rate"], found["unchanged_rate"]) == (0.5, 0.25)
    assert found["median_seconds"] == 90
    assert found["label_sets_per_hour"] == 40
    theirs = _read(desk, query, by="reviewer")
    assert theirs["totals"] == {**NOTHING, "reviewed": 4}
    assert theirs["days"][-1]["reviewed"] == 4
    assert _read(desk, query, by="admin")["totals"] == NOTHING


def test_a_day_is_one_of_the_time_zone_of_the_user(desk: Desk) -> None:
    schema = desk.schema()
    zone = ZoneInfo("America/New_York")
    before, after, late = (_sent(desk, 10, schema) for _ in range(3))
    # The night in which the clocks went forward: a day of 23 hours.
    _at(desk, before, "submit", datetime(2026, 3, 7, 23, 59, 59, tzinfo=zone))
    _at(desk, after, "submit", datetime(2026, 3, 8, 0, 0, tzinfo=zone))
    _at(desk, late, "submit", datetime(2026, 3, 8, 23, 59, tzinfo=zone))
    desk.sql(
        "UPDATE users SET time_zone = 'America/New_York' WHERE id = :id",
        id=desk.org.users["labeler"],
    )
    found = _read(desk, "?from=2026-03-07&to=2026-03-09")
    assert found["time_zone"] == "America/New_York"
    assert [(one["date"], one["submitted"]) for one in found["days"]] == [
        ("2026-03-07", 1),
        ("2026-03-08", 2),
        ("2026-03-09", 0),
    ]
    assert _read(desk, "?from=2026-03-08&to=2026-03-08")["totals"]["submitted"] == 2


def test_a_decision_counts_on_the_day_of_the_submission(desk: Desk) -> None:
    sent = _sent(desk, 10, desk.schema())
    _decide(desk, sent, "accept")
    _at(desk, sent, "submit", datetime(2026, 3, 1, 12, tzinfo=UTC))
    _at(desk, sent, "accept", datetime(2026, 3, 5, 12, tzinfo=UTC))
    query = "?from=2026-03-01&to=2026-03-02"
    assert _read(desk, query)["days"][0]["accepted"] == 1
    assert _read(desk, query, by="reviewer")["totals"]["reviewed"] == 0
    assert _read(desk, "?from=2026-03-05&to=2026-03-05", by="reviewer")["totals"]["reviewed"] == 1


def test_an_unknown_time_zone_counts_as_utc() -> None:
    for zone in ("Nowhere/City", "../../etc/passwd", ""):
        assert get_period(zone, date(2026, 1, 1), date(2026, 1, 2)).zone == "UTC"


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Pacific/Apia", "America/Sao_Paulo", "UTC"])
def test_days_follow_one_another(zone: str) -> None:
    asked = get_period(zone, date(2011, 1, 1), date(2011, 12, 31))
    assert len(asked.days) == 365
    assert asked.edges == sorted(asked.edges)
    assert len(asked.edges) == 366


def test_much_work_takes_no_more_statements(desk: Desk) -> None:
    schema, counts = desk.schema(), []
    year = datetime.now(UTC).date() - timedelta(days=364)
    for _ in range(2):
        for _ in range(5):
            _sent(desk, 10, schema)
        with record_statements(desk.org.app) as ran:
            _read(desk, f"?from={year}")
        counts.append(len(ran))
    assert counts == [3, 3]
