"""The queue in numbers: what waits, and how it was decided."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from tests.factories import Org
from tests.factories.clock import parse_tomorrow
from tests.factories.statements import record_statements
from tests.factories.workspace import Workspace


def _get_stats(workspace: Workspace, query: str = "") -> dict[str, Any]:
    answer = workspace.org.api("reviewer").get(f"/review-queue/stats{query}")
    assert answer.status_code == 200, answer.json
    data: dict[str, Any] = answer.json["data"]
    return data


def _set_age(workspace: Workspace, tag_set: dict[str, Any], **ago: Any) -> None:
    """Let a label set have been submitted some time ago."""
    for table, column, key in (
        ("tag_sets", "submitted_at", "id"),
        ("tag_set_revisions", "created_at", "tag_set_id"),
    ):
        extra = "" if table == "tag_sets" else " AND kind = 'submit'"
        workspace.sql(
            f"UPDATE {table} SET {column} = now() - CAST(:ago AS interval)"
            f" WHERE {key} = :id{extra}",
            ago=timedelta(**ago),
            id=tag_set["id"],
        )


def test_an_empty_queue(workspace: Workspace) -> None:
    stats = _get_stats(workspace)
    assert stats["from"] == str(parse_tomorrow(stats["to"]) - timedelta(days=30))
    assert stats["age"] == {"oldest_seconds": None, "median_seconds": None, "p90_seconds": None}
    assert (stats["depth"], stats["decided"], stats["acceptance_rate"]) == (0, 0, None)
    assert stats["mean_seconds_to_decision"] is None
    assert (len(stats["by_day"]), stats["by_schema"], stats["by_reviewer"]) == (30, [], [])


def test_what_waits(workspace: Workspace) -> None:
    one, two = workspace.schema(), workspace.schema()
    past = datetime.now(UTC) - timedelta(days=1)
    sent = [workspace.submitted(workspace.artifact(one)) for _ in range(3)]
    sent.append(workspace.submitted(workspace.artifact(two, due_at=past)))
    for hours, item in enumerate(sent, start=1):
        _set_age(workspace, item, hours=hours)
    api = workspace.org.api("reviewer")
    api.post(f"/review-queue/{sent[0]['id']}/claim")
    body = {"user_id": str(workspace.org.users["admin"]), "reason": "x"}
    api.post(f"/review-queue/{sent[1]['id']}/escalate", json=body)
    stats = _get_stats(workspace)
    names = ("depth", "unassigned", "claimed", "escalated", "overdue")
    assert [stats[name] for name in names] == [4, 3, 1, 1, 1]
    hours = {name: round(seconds / 3600) for name, seconds in stats["age"].items()}
    assert hours == {"oldest_seconds": 4, "median_seconds": 2, "p90_seconds": 4}
    by_schema = {of["schema"]["id"]: [of[name] for name in names] for of in stats["by_schema"]}
    assert by_schema == {str(one): [3, 2, 1, 1, 0], str(two): [1, 1, 0, 0, 1]}
    alone = _get_stats(workspace, f"?schema_id={two}")
    assert (alone["depth"], [s["schema"]["id"] for s in alone["by_schema"]]) == (1, [str(two)])


def test_what_was_decided(workspace: Workspace) -> None:
    workspace.org.add_user("other", "reviewer")
    schema_id = workspace.schema()
    sent = [workspace.submitted(workspace.artifact(schema_id)) for _ in range(4)]
    for item in sent:
        _set_age(workspace, item, minutes=10)
    by_one, by_other = workspace.org.api("reviewer"), workspace.org.api("other")
    by_one.post(f"/tag-sets/{sent[0]['id']}/accept", json={})
    corrected = {"tags": [{"field": "number", "value": "B"}]}
    by_one.post(f"/tag-sets/{sent[1]['id']}/accept", json=corrected)
    by_one.post(f"/tag-sets/{sent[2]['id']}/reject", json={"reason": "no"})
    by_other.post(f"/tag-sets/{sent[3]['id']}/accept", json={})
    workspace.submitted(workspace.artifact(workspace.schema(sample_rate=0.0)))  # accepted by nobody
    stats = _get_stats(workspace)
    counts = ("decided", "accepted", "corrected", "rejected")
    assert [stats[name] for name in counts] == [4, 3, 1, 1]
    assert stats["acceptance_rate"] == 0.75
    assert 590 < stats["mean_seconds_to_decision"] < 660
    assert stats["decided_per_day"] == pytest.approx(4 / 30)
    reviewers = {one["reviewer"]["id"]: [one[n] for n in counts] for one in stats["by_reviewer"]}
    assert reviewers == {
        str(workspace.org.users["reviewer"]): [3, 2, 1, 1],
        str(workspace.org.users["other"]): [1, 1, 0, 0],
    }
    (of_schema,) = stats["by_schema"]
    assert [of_schema[name] for name in ("depth", *counts)] == [0, 4, 3, 1, 1]
    decided = [day["decided"] for day in stats["by_day"]]
    # On the last day, or on two when midnight passed meanwhile.
    assert (decided[:28], sum(decided[28:])) == ([0] * 28, 4)


def test_verdicts_outside_the_period_do_not_count(workspace: Workspace) -> None:
    # Before the verdict, or it would be of the day before it when midnight passes between them.
    today = datetime.now(UTC).date()
    sent = workspace.submitted()
    workspace.org.api("reviewer").post(f"/tag-sets/{sent['id']}/accept", json={})
    assert _get_stats(workspace, f"?from={today}")["decided"] == 1
    assert _get_stats(workspace, f"?to={today}")["decided"] == 0


def test_garbled_questions_are_refused(workspace: Workspace) -> None:
    api = workspace.org.api("reviewer")
    answer = api.get("/review-queue/stats?from=2026-02-01&to=2026-01-01")
    assert (answer.status_code, answer.json["error"]["field"]) == (400, "from")
    for query in ("from=x", "schema_id=x", "odd=1"):
        assert api.get(f"/review-queue/stats?{query}").status_code == 422


def test_the_numbers_are_a_few_statements(workspace: Workspace, app: Flask) -> None:
    for _ in range(3):
        workspace.submitted(workspace.artifact(workspace.schema()))
    with record_statements(app) as statements:
        assert len(_get_stats(workspace)["by_schema"]) == 3
    assert len(statements) <= 4


def test_another_tenants_numbers_are_its_own(workspace: Workspace, other_org: Org) -> None:
    sent = workspace.submitted()
    query = f"?schema_id={sent['schema_id']}"
    for asked in ("", query):
        data = other_org.api("owner").get(f"/review-queue/stats{asked}").json["data"]
        assert (data["depth"], data["by_schema"]) == (0, [])
