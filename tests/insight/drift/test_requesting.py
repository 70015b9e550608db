"""Requested, daily and interrupted detections, and their periods."""

from typing import Any
from uuid import UUID

import pytest

from app.insight.drift.jobs import start_daily_detections
from app.insight.drift.service import detecting
from app.kit.jobs import runs
from tests.factories import Org, claim_jobs_of, make_job, run_jobs_of
from tests.factories.errors import check_error
from tests.factories.orgs import transaction_across_organizations
from tests.factories.queueing import run_concurrently
from tests.factories.workspace import Workspace
from tests.insight.drift.conftest import Labeling


def _list_reports(labeling: Labeling, detection: dict[str, Any]) -> Any:
    api = labeling.workspace.org.api("viewer")
    return api.get(f"/quality/drift?detection_id={detection['id']}")


def test_a_request_leads_to_its_result(labeling: Labeling) -> None:
    labeling.add_shift()
    detection = labeling.request()
    assert (detection["schema_id"], detection["status"]) == (str(labeling.schema_id), "queued")
    assert detection["baseline"]["to"] == detection["current"]["from"]
    assert detection["created_at"] <= detection["updated_at"]
    error = check_error(_list_reports(labeling, detection), 409, "conflict")
    assert error["details"]["status"] == "queued"
    run_jobs_of(labeling.workspace.org, "drift")
    answer = _list_reports(labeling, detection)
    assert (answer.status_code, answer.json["meta"]["total"]) == (200, 1)
    assert answer.json["data"][0]["detection_id"] == detection["id"]


def test_a_schema_without_tag_sets_has_no_drift(labeling: Labeling) -> None:
    assert labeling.detect() == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"current": (0, 0)}, "current.from"),
        ({"current": (1, 2)}, "current.from"),
        ({"baseline": (3, 3)}, "baseline.from"),
        ({"current": (0, -1)}, "current.to"),
        ({"baseline": (-1, -2)}, "baseline.to"),
        ({"current": (50 * 365, 0)}, "current.from"),
        ({"baseline": (50 * 365, 20)}, "baseline.from"),
        ({"baseline": (20, 6)}, "baseline.to"),
        ({"baseline": (20, 12), "current": (13, 6)}, "baseline.to"),
        ({"fix_baseline": True}, "baseline"),
    ],
)
def test_invalid_periods_are_refused(labeling: Labeling, body: Any, field: str) -> None:
    sent = {k: labeling.build_period(*v) if isinstance(v, tuple) else v for k, v in body.items()}
    error = labeling.request(status=400, **sent)
    assert (error["code"], error["field"]) == ("validation_error", field)
    assert labeling.workspace.sql("SELECT 1 FROM drift_detections") == []
    assert labeling.workspace.sql("SELECT 1 FROM drift_baselines") == []


def test_periods_before_1970_are_refused(labeling: Labeling) -> None:
    period = {"from": "1969-12-01T00:00:00Z", "to": "1969-12-02T00:00:00Z"}
    assert labeling.request(status=400, current=period)["field"] == "current.from"


def test_an_incomplete_period_is_refused(labeling: Labeling) -> None:
    error = labeling.request(status=422, current={"from": "2026-01-01T00:00:00Z"})
    assert (error["code"], error["field"]) == ("unprocessable", "current.to")


def test_a_fixed_baseline_is_used_until_it_is_deleted(labeling: Labeling) -> None:
    labeling.add_choices((70, 40, (200, 100)), (40, 0, (100, 200)))
    fixed = labeling.request(baseline=labeling.build_period(70, 40), fix_baseline=True)
    run_jobs_of(labeling.workspace.org, "drift")
    later = labeling.request()
    assert later["baseline"] == fixed["baseline"]
    run_jobs_of(labeling.workspace.org, "drift")
    period = labeling.build_period(60, 50)
    assert labeling.request(status=400, current=period)["field"] == "current.from"
    rolling = labeling.request(fix_baseline=False)
    assert rolling["baseline"] != fixed["baseline"]
    assert labeling.workspace.sql("SELECT 1 FROM drift_baselines") == []


def test_a_schema_has_one_detection_at_a_time(labeling: Labeling) -> None:
    def request() -> tuple[int, Any]:
        api = labeling.workspace.org.api("reviewer")
        answer = api.post("/quality/drift/detect", {"schema_id": str(labeling.schema_id)})
        return answer.status_code, answer.json

    labeling.workspace.org.api("reviewer")
    answers = sorted(run_concurrently(request, request), key=lambda pair: pair[0])
    (accepted, first), (refused, second) = answers
    assert (accepted, refused) == (202, 409)
    assert second["error"]["code"] == "conflict"
    assert second["error"]["details"]["detection_id"] == first["data"]["id"]
    labeling.request(schema_id=str(labeling.workspace.schema()))


def test_an_unknown_schema(labeling: Labeling, other_org: Org) -> None:
    foreign_schema_id = Workspace(other_org).schema()
    for schema_id in (foreign_schema_id, labeling.workspace.org.id):
        error = labeling.request(status=404, schema_id=str(schema_id))
        assert error["code"] == "not_found"


def _run_daily_job(org: Org) -> list[Any]:
    with transaction_across_organizations(org.app):
        start_daily_detections(make_job(None, {}))
    run_jobs_of(org, "drift")
    sql = "SELECT schema_id, due_on, status FROM drift_detections WHERE due_on IS NOT NULL"
    return Workspace(org).sql(sql)


def test_schemas_with_new_work_are_checked_daily(labeling: Labeling) -> None:
    labeling.workspace.schema()
    labeling.add_choices((36, 9, (200, 100)), (8, 1, (50, 100)))
    (row,) = _run_daily_job(labeling.workspace.org)
    assert (row.schema_id, row.status) == (labeling.schema_id, "completed")
    assert [report["metric"] for report in labeling.list_reports()] == ["values"]
    # There is one detection per day, regardless of how often the job runs.
    assert _run_daily_job(labeling.workspace.org) == [row]


def test_a_detection_that_is_interrupted_starts_again(
    labeling: Labeling, monkeypatch: pytest.MonkeyPatch
) -> None:
    labeling.add_shift()
    detection = labeling.request()
    org = labeling.workspace.org
    compare = detecting.find_drift

    def lose_lease(*args: Any) -> Any:
        labeling.workspace.sql(
            "UPDATE jobs SET leased_until = now() - interval '1 second'"
            " WHERE function = 'drift.detect' AND status = 'running'"
        )
        (other,) = claim_jobs_of(org, "drift")
        monkeypatch.setattr(detecting, "find_drift", compare)
        runs.run(org.app, "drift", [other])
        return compare(*args)

    monkeypatch.setattr(detecting, "find_drift", lose_lease)
    run_jobs_of(org, "drift")
    assert len(_list_reports(labeling, detection).json["data"]) == 1
    assert len(labeling.workspace.events("drift.detected")) == 1
    assert len(labeling.workspace.events("drift.found")) == 1


def test_a_failed_detection_allows_another_one(labeling: Labeling) -> None:
    detection = labeling.request()
    org = labeling.workspace.org
    with org.transaction():
        detecting.fail(UUID(detection["id"]))
    details = {"status": "failed"}
    check_error(_list_reports(labeling, detection), 409, "conflict", details=details)
    labeling.request()
