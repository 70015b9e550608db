"""Detections find shifts, report each shift once, and ignore everything else."""

from datetime import date, timedelta
from typing import Any

import pytest

from tests.factories import Org, run_jobs_of
from tests.factories.emails import list_emails_to
from tests.factories.teams import add_members, make_team
from tests.insight.drift.conftest import Labeling, build_kind_values


@pytest.mark.usefixtures("child_process")
def test_a_shift_of_values_is_reported(labeling: Labeling) -> None:
    labeling.add_shift()
    (report,) = labeling.detect()
    assert (report["subject"], report["field"], report["metric"]) == ("labeling", "kind", "values")
    assert (report["test"], report["category"], report["status"]) == ("chi_square", "a", "open")
    assert (report["baseline"]["n"], report["current"]["n"]) == (300, 150)
    assert report["baseline"]["value"] == pytest.approx(2 / 3)
    assert report["current"]["value"] == pytest.approx(1 / 3)
    assert report["current"]["from"] == report["baseline"]["to"]
    assert report["p_value"] <= report["q_value"] < 1e-6
    assert report["effect"] > 0.4
    assert (report["labeler_id"], report["warnings"]) == (None, [])
    api = labeling.workspace.org.api("viewer")
    assert api.get(f"/quality/drift/{report['id']}").json["data"] == report


def test_each_event_fires_once(labeling: Labeling) -> None:
    labeling.add_shift()
    (report,) = labeling.detect()
    (again,) = labeling.detect()
    assert again["id"] == report["id"]
    assert again["confirmed_at"] > report["confirmed_at"]
    (event,) = labeling.workspace.events("drift.detected")
    assert event == {
        "report_id": report["id"],
        "schema_id": str(labeling.schema_id),
        "subject": "labeling",
        "field": "kind",
        "metric": "values",
        "baseline": report["baseline"]["value"],
        "current": report["current"]["value"],
        "p_value": report["p_value"],
    }


def test_administrators_are_notified_once_per_detection(labeling: Labeling, work: Any) -> None:
    labeling.add(35, 7, [{**values, "note": "short"} for values in build_kind_values(200, 100)])
    labeling.add(7, 0, [{**values, "note": "much longer"} for values in build_kind_values(50, 100)])
    labeling.request()
    work()
    org = labeling.workspace.org
    for role in ("owner", "admin"):
        (note,) = org.api(role).get("/notifications").json["data"]
        assert note["kind"] == "drift_detected"
        assert note["title"] == "2 shifts detected in Invoices"
        assert "kind: values 0.6667 → 0.3333" in note["body"]
        assert len(org.api(role).get(note["link"]).json["data"]) == 2
    assert org.api("reviewer").get("/notifications").json["data"] == []
    assert len(list_emails_to(org.email("owner"))) == 1


def test_without_a_shift_nothing_is_reported(labeling: Labeling) -> None:
    labeling.add_choices((35, 7, (200, 100)), (7, 0, (100, 50)))
    assert labeling.detect() == []
    assert labeling.workspace.events("drift.detected") == []


def test_small_samples_are_not_reported(labeling: Labeling) -> None:
    labeling.add_choices((35, 7, (200, 0)), (7, 0, (0, 29)))
    assert labeling.detect() == []
    (row,) = labeling.workspace.sql("SELECT status, compared, not_enough FROM drift_detections")
    assert (row.status, row.compared) == ("completed", 0)
    assert row.not_enough > 0


def _get_day(labeling: Labeling, ago: float) -> date:
    return labeling.ago(ago).date()


def test_every_metric_of_the_labeling(labeling: Labeling) -> None:
    """Amounts, ages of dates, lengths, missing values and review decisions all shift."""
    before, after = [], []
    for n in range(200):
        day = _get_day(labeling, 35 - n * 0.14) - timedelta(days=n % 10)
        total = {"amount": str(100 + n % 50), "currency": "EUR"}
        before.append({"total": total, "day": str(day), "note": "x" * (10 + n % 9), "kind": "a"})
    for n in range(100):
        day = _get_day(labeling, 7 - n * 0.07) - timedelta(days=20 + n % 10)
        total = {"amount": str(130 + n % 50), "currency": "EUR"}
        tags = {"total": total, "day": str(day), "note": "x" * (15 + n % 9)}
        after.append({**tags, "kind": "a"} if n % 2 else {**tags, "lines.item": "Rope"})
    labeling.add(35, 7, before)
    labeling.add(7, 0, after, kinds=("accept", "correction", "accept", "accept", "reject"))
    report_by_metric = {(report["field"], report["metric"]): report for report in labeling.detect()}
    assert set(report_by_metric) == {
        ("total", "values"),
        ("day", "values"),
        ("note", "length"),
        ("kind", "empty_rate"),
        ("lines", "empty_rate"),
        (None, "acceptance_rate"),
        (None, "correction_rate"),
    }
    ages = report_by_metric["day", "values"]
    assert ages["baseline"]["value"] < 12 < ages["current"]["value"]
    assert report_by_metric["note", "length"]["baseline"]["value"] == 14
    assert report_by_metric[None, "acceptance_rate"]["current"]["value"] == 0.8
    assert report_by_metric["kind", "empty_rate"]["baseline"]["value"] == 0


def test_dates_that_follow_the_calendar_are_no_shift(labeling: Labeling) -> None:
    def add(start: int, end: int, n: int) -> None:
        ages = (start - (start - end) * (i + 0.5) / n for i in range(n))
        days = [_get_day(labeling, age) - timedelta(days=i % 10) for i, age in enumerate(ages)]
        labeling.add(start, end, [{"day": str(day)} for day in days])

    add(35, 7, 200)
    add(7, 0, 100)
    assert labeling.detect() == []


def test_one_labeler_differs_from_their_peers(labeling: Labeling) -> None:
    org = labeling.workspace.org
    labeling.add(7, 0, build_kind_values(60, 60), by=("labeler", "admin"))
    labeling.add(7, 0, build_kind_values(5, 55), by=("reviewer",))
    values_reports = [r for r in labeling.detect() if r["metric"] == "values"]
    report = {r["labeler_id"]: r for r in values_reports}[str(org.users["reviewer"])]
    assert (report["field"], report["baseline"]["n"], report["current"]["n"]) == ("kind", 120, 60)
    assert report["baseline"]["from"] == report["current"]["from"]
    assert (report["category"], report["current"]["value"]) == ("a", pytest.approx(5 / 60))


def test_reports_about_labelers_are_shown_to_them_and_to_reviewers(labeling: Labeling) -> None:
    org = labeling.workspace.org
    labeling.add(7, 0, build_kind_values(60, 60), by=("admin",))
    labeling.add(7, 0, build_kind_values(5, 55), by=("labeler",))
    labeler, admin = str(org.users["labeler"]), str(org.users["admin"])
    report_by_labeler = {report["labeler_id"]: report for report in labeling.detect()}
    assert report_by_labeler.keys() == {labeler, admin}
    visible_reports = labeling.list_reports(role="labeler")
    assert {report["labeler_id"] for report in visible_reports} == {labeler}
    assert labeling.list_reports(role="viewer") == []
    other = report_by_labeler[admin]
    for role, status in (("labeler", 404), ("viewer", 404), ("reviewer", 200)):
        assert org.api(role).get(f"/quality/drift/{other['id']}").status_code == status


def test_reviewers_in_a_team_see_reports_about_its_members(labeling: Labeling) -> None:
    org = labeling.workspace.org
    labeling.add(7, 0, build_kind_values(60, 60), by=("admin",))
    labeling.add(7, 0, build_kind_values(5, 55), by=("labeler",))
    report_by_labeler = {report["labeler_id"]: report for report in labeling.detect()}
    other = report_by_labeler[str(org.users["admin"])]
    add_members(org, make_team(org, lead_id=str(org.users["reviewer"])), "labeler")
    assert [r["labeler_id"] for r in labeling.list_reports()] == [str(org.users["labeler"])]
    assert org.api("reviewer").get(f"/quality/drift/{other['id']}").status_code == 404
    labeling.acknowledge(other, status=404)
    assert len(labeling.list_reports(role="admin")) == 2
    # An API key does not represent the person who created it.
    for role, count in (("labeler", 0), ("reviewer", 2)):
        key = org.key(role, maker="admin")
        assert len(key.get("/quality/drift").json["data"]) == count
        status = 200 if count else 404
        assert key.get(f"/quality/drift/{other['id']}").status_code == status


def _publish_version(labeling: Labeling, fields: str) -> None:
    """Publish a version whose fields are the value of a SQL expression of the current `fields`."""
    labeling.workspace.sql(
        "INSERT INTO schema_versions (organization_id, id, schema_id, number, fields,"
        " review_policy, published_at, changes, breaking, created_at, updated_at)"
        f" SELECT organization_id, gen_random_uuid(), schema_id, number + 1, {fields},"
        " review_policy, now(), '[]', true, now(), now()"
        " FROM schema_versions WHERE id = :id",
        id=labeling.version_id,
    )
    labeling.workspace.sql(
        "UPDATE schemas SET current_version_id = (SELECT id FROM schema_versions v"
        " WHERE v.schema_id = schemas.id ORDER BY number DESC LIMIT 1) WHERE id = :id",
        id=labeling.schema_id,
    )


def test_versions_with_another_type_are_left_out(labeling: Labeling) -> None:
    labeling.add(35, 7, build_kind_values(100, 100))
    _publish_version(labeling, "jsonb_set(fields, '{0,type}', '\"text\"')")
    labeling.add(7, 0, [{"kind": "a long text instead"}] * 100)
    assert labeling.detect() == []
    labeling.add(35, 7, [{"kind": "short"}] * 50)
    (report,) = labeling.detect()
    assert (report["field"], report["metric"]) == ("kind", "length")
    assert (report["baseline"]["n"], len(report["warnings"])) == (50, 1)


def test_reports_of_metrics_that_no_version_has_any_more_are_closed(labeling: Labeling) -> None:
    """Otherwise such a report stays open forever and keeps the baseline of the schema in the past.

    The text field `note` becomes a choice, which has no `length`; the field `kind` is removed.
    """
    before = [{**values, "note": "short"} for values in build_kind_values(200, 100)]
    after = [{**values, "note": "much longer"} for values in build_kind_values(50, 100)]
    labeling.predict(labeling.add(35, 7, before), "kind", correct=0.97, confidence=0.95)
    labeling.predict(labeling.add(7, 0, after), "kind", correct=0.8, confidence=0.95)
    metrics = {(report["field"], report["metric"]) for report in labeling.detect()}
    assert metrics >= {("kind", "values"), ("kind", "accuracy"), ("note", "length")}
    _publish_version(labeling, "jsonb_set(fields, '{3,type}', '\"choice\"') - 0")
    labeling.detect()
    closed = labeling.list_reports("status=closed")
    assert {(report["field"], report["metric"]) for report in closed} == metrics


def test_a_model_that_gets_worse_is_reported(labeling: Labeling) -> None:
    before = labeling.add(35, 7, build_kind_values(100, 100))
    after = labeling.add(7, 0, build_kind_values(50, 50))
    labeling.predict(before, "kind", correct=0.97, confidence=0.95)
    labeling.predict(after, "kind", correct=0.8, confidence=0.7)
    report_by_metric = {report["metric"]: report for report in labeling.detect()}
    assert set(report_by_metric) == {"accuracy", "confidence", "correction_rate"}
    accuracy = report_by_metric["accuracy"]
    assert (accuracy["subject"], accuracy["field"]) == ("model", "kind")
    assert (accuracy["baseline"]["value"], accuracy["current"]["value"]) == (0.97, 0.8)
    assert (accuracy["baseline"]["n"], accuracy["current"]["n"]) == (200, 100)
    assert report_by_metric["correction_rate"]["current"]["value"] == pytest.approx(0.2)
    assert report_by_metric["confidence"]["test"] == "kolmogorov_smirnov"
    assert report_by_metric["confidence"]["current"]["value"] < 0.8
    payloads = labeling.workspace.events("drift.detected")
    assert {(payload["subject"], payload["field"]) for payload in payloads} == {("model", "kind")}


def test_the_work_of_another_organization_does_not_count(
    labeling: Labeling, other_org: Org
) -> None:
    labeling.add_shift()
    (report,) = labeling.detect()
    api = other_org.api("owner")
    assert api.get("/quality/drift").json["data"] == []
    assert api.get(f"/quality/drift?detection_id={report['detection_id']}").json["data"] == []
    assert api.get(f"/quality/drift/{report['id']}").status_code == 404
    assert api.post(f"/quality/drift/{report['id']}/acknowledge").status_code == 404
    body = {"schema_id": str(labeling.schema_id)}
    assert api.post("/quality/drift/detect", body).status_code == 404
    run_jobs_of(other_org, "drift")
    assert labeling.list_reports()[0]["status"] == "open"
