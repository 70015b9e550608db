"""A metric over time, by schema, field, team or labeler, and its periods."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.factories.clock import parse_tomorrow
from tests.factories.quality import QualityWorkspace
from tests.factories.teams import add_members, make_team


def _parse_noon(day: str) -> datetime:
    return datetime.fromisoformat(f"{day}T12:00:00").replace(tzinfo=UTC)


def _list_values(series: dict[str, Any]) -> dict[str, Any]:
    return {point["from"]: point["value"] for point in series["points"] if point["n"]}


def _label_on(quality: QualityWorkspace, schema: Any, *days: str) -> None:
    for day in days:
        quality.move(quality.label(quality.artifact(schema), "A"), "submit", _parse_noon(day))


def test_days_weeks_and_months(quality: QualityWorkspace) -> None:
    _label_on(quality, quality.schema(), "2026-01-31", "2026-02-01", "2026-02-02", "2026-02-02")
    path = "trends?metric=throughput&from=2026-01-31&to=2026-02-03"
    (series,) = quality.read(path)["series"]
    assert _list_values(series) == {"2026-01-31": 1, "2026-02-01": 1, "2026-02-02": 2}
    assert (series["key"], series["name"]) == (None, None)
    (weekly,) = quality.read(f"{path}&bucket=week")["series"]
    # 2026-02-02 is a Monday.
    assert [(point["from"], point["to"]) for point in weekly["points"]] == [
        ("2026-01-31", "2026-02-02"),
        ("2026-02-02", "2026-02-03"),
    ]
    assert _list_values(weekly) == {"2026-01-31": 2, "2026-02-02": 2}
    (monthly,) = quality.read(f"{path}&bucket=month")["series"]
    assert _list_values(monthly) == {"2026-01-31": 1, "2026-02-01": 3}
    # The end is exclusive.
    (cut,) = quality.read("trends?metric=throughput&from=2026-01-30&to=2026-02-02")["series"]
    assert _list_values(cut) == {"2026-01-31": 1, "2026-02-01": 1}
    empty = next(point for point in cut["points"] if point["from"] == "2026-01-30")
    assert (empty["value"], empty["n"]) == (0.0, 0)


def test_by_schema_field_team_and_labeler(quality: QualityWorkspace) -> None:
    org = quality.org
    schema, other = quality.schema(labels_per_artifact=2), quality.schema()
    artifact = quality.artifact(schema)
    quality.label(artifact, "A")
    quality.label(artifact, "B", by="second")
    quality.label(quality.artifact(other), "A", by="third")
    team = add_members(org, make_team(org), "labeler", "third")

    def read(query: str, by: str = "admin") -> dict[str, list[Any]]:
        trends = quality.read(f"trends?{query}", by=by)
        return {series["key"]: list(_list_values(series).values()) for series in trends["series"]}

    submitted = "metric=throughput&group_by="
    assert read(f"{submitted}schema") == {str(schema): [2], str(other): [1]}
    assert read(f"group_by=field&schema_id={schema}") == {"number": [0.0]}
    assert read(f"group_by=field&field=nothing&schema_id={schema}") == {}
    assert read(f"field=number&schema_id={schema}") == {None: [0.0]}
    assert read(f"{submitted}team") == {team["id"]: [2]}
    people = {str(org.users[name]): [1] for name in ("labeler", "second", "third")}
    assert read(f"{submitted}labeler") == people
    members = {str(org.users[name]) for name in ("labeler", "third")}
    assert read(f"{submitted}labeler&team_id={team['id']}").keys() == members
    second = org.users["second"]
    assert read(f"metric=throughput&labeler_id={second}") == {None: [1]}
    assert read(f"{submitted}schema&labeler_id={second}") == {str(schema): [1]}
    by_labeler = quality.read(f"trends?{submitted}labeler", by="admin")["series"]
    assert {series["name"] for series in by_labeler} == {"Labeler", "Second", "Third"}
    # A reviewer who sees one team sees its metrics, and no metrics of other teams.
    own = add_members(org, make_team(org, name="Own"), "reviewer", "labeler", "second")
    assert read(f"{submitted}team") == {team["id"]: [2], own["id"]: [2]}
    # With a filter by team, there is no series of another team with a part of its members.
    assert read(f"{submitted}team&team_id={team['id']}") == {team["id"]: [2]}
    assert len(read(f"{submitted}team", by="reviewer")) == 1


def test_intervals_and_speed(quality: QualityWorkspace) -> None:
    schema = quality.schema()
    for _ in range(3):
        quality.act(quality.label(quality.artifact(schema), "A"), "accept")
    quality.reject(quality.label(quality.artifact(schema), "A", seconds=140), to="pool")
    (series,) = quality.read("trends?metric=acceptance_rate")["series"]
    last = series["points"][-1]
    assert (last["value"], last["n"]) == (0.75, 4)
    assert (round(last["ci_low"], 4), round(last["ci_high"], 4)) == (0.3006, 0.9544)
    (seconds,) = quality.read("trends?metric=seconds_spent")["series"]
    assert seconds["points"][-1]["value"] == 80.0
    assert seconds["points"][-1]["ci_low"] is None


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ("from=2026-01-05&to=2026-01-05", 400, "to"),
        ("from=2026-01-05&to=2026-01-04", 400, "to"),
        ("from=1976-01-01&to=2026-01-01", 400, "from"),
        ("from=2024-01-01&to=2026-01-01&bucket=day", 400, "bucket"),
        ("to=0001-01-01", 400, "to"),
        ("from=9999-12-31", 400, "from"),
        ("from=yesterday", 422, "from"),
        ("metric=nonsense", 422, "metric"),
        ("metric=throughput&group_by=field", 400, "metric"),
        ("metric=seconds_spent&field=number", 400, "metric"),
        ("group_by=labeler&field=number", 400, "field"),
        ("field=number", 400, "schema_id"),
        ("group_by=field", 400, "schema_id"),
        ("group_by=field&team_id=01a212a3-3eb2-79b0-bd61-63d4b8fb595a", 400, "team_id"),
    ],
)
def test_queries_that_are_refused(
    quality: QualityWorkspace, query: str, status: int, field: str
) -> None:
    answer = quality.org.api("admin").get(f"/quality/trends?{query}")
    assert (answer.status_code, answer.json["error"]["field"]) == (status, field), answer.json


def test_other_operations_refuse_the_same_periods(quality: QualityWorkspace) -> None:
    api = quality.org.api("admin")
    for path in ("latest", "fields", "labelers", "reviewers"):
        empty = api.get(f"/quality/{path}?from=2026-01-05&to=2026-01-05")
        assert (empty.status_code, empty.json["error"]["field"]) == (400, "to")
        assert empty.json["error"]["code"] == "validation_error"
        long = api.get(f"/quality/{path}?from=1976-01-01&to=2026-01-01")
        assert (long.status_code, long.json["error"]["field"]) == (400, "from")


def test_the_future_is_empty(quality: QualityWorkspace) -> None:
    quality.label(quality.artifact(), "A")
    for query in ("from=2990-01-01", "from=2990-01-01&to=2990-03-01&bucket=week"):
        assert quality.read(f"trends?metric=throughput&{query}")["series"] == []
    assert quality.read("latest?from=2990-01-01")["schemas"] == []
    assert quality.read("labelers?from=2990-01-01", by="admin") == []


def test_the_default_is_the_last_thirty_days(quality: QualityWorkspace) -> None:
    trends = quality.read("trends")
    today = parse_tomorrow(trends["to"]) - timedelta(days=1)
    assert trends["from"] == (today - timedelta(days=29)).isoformat()


def test_at_most_twenty_series(quality: QualityWorkspace) -> None:
    quality.label(quality.artifact(), "A")
    quality.update_metrics()
    quality.sql(
        "INSERT INTO quality_cells SELECT cell.organization_id, subject, schema_id,"
        " CAST(gen_random_uuid() AS text), field_type, day, 5, timed, seconds, accepted, corrected,"
        " rejected, auto_accepted, overturned, compared, agreement, checked, accuracy"
        " FROM quality_cells cell, generate_series(1, 20) WHERE subject = 'labeler'"
    )
    trends = quality.read("trends?metric=throughput&group_by=labeler", by="admin")
    assert trends["truncated"] is True
    assert len(trends["series"]) == 20
    assert all(list(_list_values(series).values()) == [5] for series in trends["series"])
