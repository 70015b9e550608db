"""Reports are acknowledged, confirmed and closed, and shifts are reported again."""

from typing import Any

import pytest

from app.insight.drift.service import detecting
from tests.factories.queueing import call_in_thread
from tests.insight.drift.conftest import Labeling, build_kind_values


def test_an_acknowledged_shift_is_not_reported_again(labeling: Labeling) -> None:
    """The shift begins in the middle of the period of its report."""
    labeling.add_choices((70, 30, (300, 100)), (30, 0, (100, 300)))
    (report,) = labeling.detect(current=labeling.build_period(33, 26))
    acknowledged = labeling.acknowledge(report)
    assert acknowledged["status"] == "acknowledged"
    assert acknowledged["acknowledged_by"] == str(labeling.workspace.org.users["reviewer"])
    assert acknowledged["acknowledged_at"] is not None
    for start in (33, 32, 30, 28, 26, 20, 14, 7):
        assert labeling.detect(current=labeling.build_period(start, start - 7)) == []
    assert len(labeling.workspace.events("drift.detected")) == 1
    assert labeling.acknowledge(report) == acknowledged


def test_another_shift_after_an_acknowledged_one_is_reported(labeling: Labeling) -> None:
    labeling.add_choices((70, 30, (300, 100)), (30, 10, (100, 300)), (10, 0, (0, 20, 180)))
    (report,) = labeling.detect(current=labeling.build_period(30, 23))
    labeling.acknowledge(report)
    (second,) = labeling.detect(current=labeling.build_period(7, 0))
    assert second["id"] != report["id"]
    # The baseline is the time after the acknowledged shift.
    assert second["baseline"]["from"] == report["current"]["to"]
    assert len(labeling.workspace.events("drift.detected")) == 2


def test_a_shift_acknowledged_during_a_detection_is_not_reported_again(
    labeling: Labeling, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shift already has an older acknowledged report."""
    labeling.add_choices((70, 30, (300, 100)), (30, 10, (100, 300)), (10, 0, (0, 20, 180)))
    (report,) = labeling.detect(current=labeling.build_period(30, 23))
    labeling.acknowledge(report)
    (second,) = labeling.detect(current=labeling.build_period(7, 0))
    compare = detecting.find_drift

    def acknowledge(*args: Any) -> Any:
        call_in_thread(labeling.acknowledge, second)
        return compare(*args)

    monkeypatch.setattr(detecting, "find_drift", acknowledge)
    assert labeling.detect(current=labeling.build_period(7, 0)) == []
    assert [report["status"] for report in labeling.list_reports()] == ["acknowledged"] * 2
    assert len(labeling.workspace.events("drift.detected")) == 2


def test_an_acknowledged_shift_does_not_return_with_a_fixed_baseline(labeling: Labeling) -> None:
    labeling.add_choices((70, 30, (300, 100)), (30, 0, (100, 300)))
    fixed = {"baseline": labeling.build_period(70, 40), "fix_baseline": True}
    (report,) = labeling.detect(current=labeling.build_period(30, 23), **fixed)
    labeling.acknowledge(report)
    assert labeling.detect() == []
    assert len(labeling.workspace.events("drift.detected")) == 1


def test_the_baseline_is_before_an_open_report(labeling: Labeling) -> None:
    labeling.add_choices((70, 20, (300, 100)), (20, 0, (100, 300)))
    (report,) = labeling.detect(current=labeling.build_period(20, 13))
    (again,) = labeling.detect()
    assert again["id"] == report["id"]
    rows = labeling.workspace.sql("SELECT baseline_until FROM drift_detections ORDER BY created_at")
    assert rows[0].baseline_until == rows[1].baseline_until == labeling.ago(20)


def test_an_open_report_is_closed_when_the_shift_has_ended(labeling: Labeling) -> None:
    labeling.add_choices((70, 20, (300, 100)), (20, 10, (50, 150)), (10, 0, (150, 50)))
    (report,) = labeling.detect(current=labeling.build_period(20, 13))
    assert labeling.detect() == []
    (closed,) = labeling.list_reports()
    assert (closed["id"], closed["status"]) == (report["id"], "closed")
    assert closed["closed_at"] is not None
    error = labeling.acknowledge(report, status=409)
    assert (error["code"], error["details"]["status"]) == ("conflict", "closed")
    assert len(labeling.workspace.events("drift.detected")) == 1


def test_a_shift_that_returns_is_reported_again(labeling: Labeling) -> None:
    labeling.add_choices(
        (70, 20, (300, 100)), (20, 15, (50, 150)), (15, 5, (150, 50)), (5, 0, (50, 150))
    )
    (report,) = labeling.detect(current=labeling.build_period(20, 15))
    assert labeling.detect(current=labeling.build_period(12, 6)) == []
    (second,) = labeling.detect(
        current=labeling.build_period(5, 0), baseline=labeling.build_period(70, 20)
    )
    assert second["id"] != report["id"]
    assert [report["status"] for report in labeling.list_reports()] == ["open", "closed"]


def test_the_list_is_filtered(labeling: Labeling) -> None:
    labeling.add(35, 7, [{**values, "note": "short"} for values in build_kind_values(200, 100)])
    labeling.add(7, 0, [{**values, "note": "much longer"} for values in build_kind_values(50, 100)])
    report, _ = labeling.detect()
    labeling.acknowledge(report)
    other = labeling.workspace.schema()
    counts_by_query = {
        "status=open": 1,
        "status=acknowledged": 1,
        "status=closed": 0,
        "subject=labeling": 2,
        "subject=model": 0,
        "field=note": 1,
        "field=unknown": 0,
        "metric=values&field=kind": 1,
        f"schema_id={labeling.schema_id}": 2,
        f"schema_id={other}": 0,
        f"detection_id={other}": 0,
    }
    for query, count in counts_by_query.items():
        assert len(labeling.list_reports(query)) == count, query
