"""Documents with several accepted tag sets are one observation each."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import orjson
import pytest

from app.insight.drift.queries import samples
from app.insight.drift.service import detecting, reporting
from app.kit.ids import uuid7
from tests.insight.drift.conftest import Labeling, build_kind_values

_COPY = """
INSERT INTO tag_sets (organization_id, id, artifact_id, schema_id, schema_version_id,
    labeler_id, source, tags, status, submitted_at, decided_at, seconds_spent,
    comment_count, rejections, review_rank, escalated, flags, created_at, updated_at, revision)
SELECT t.organization_id, given.id, t.artifact_id, t.schema_id, t.schema_version_id,
    CAST(:labeler AS uuid), :source, coalesce(CAST(:tags AS jsonb), t.tags), 'accepted',
    t.submitted_at, t.decided_at + interval '1 second', 30, 0, 0, 0, false, '[]', t.created_at,
    t.updated_at, 2
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given (id uuid, of uuid)
JOIN tag_sets t ON t.id = given.of
"""


def _copy(
    labeling: Labeling,
    tag_set_ids: Sequence[UUID],
    by: str | None,
    *,
    kind: str | None = None,
    source: str = "human",
) -> list[UUID]:
    """Copy tag sets: insert another accepted tag set on each document, one second later."""
    rows = [{"id": uuid7(), "of": tag_set_id} for tag_set_id in tag_set_ids]
    tags = None if kind is None else [{"field": "kind", "value": kind, "row": None}]
    labeling.workspace.sql(
        _COPY,
        rows=orjson.dumps(rows).decode(),
        labeler=None if by is None else labeling.workspace.org.users[by],
        source=source,
        tags=None if tags is None else orjson.dumps(tags).decode(),
    )
    return [UUID(str(row["id"])) for row in rows]


def _add_with_two_copies(
    labeling: Labeling, start: float, end: float, values: list[dict[str, Any]]
) -> list[list[UUID]]:
    first = labeling.add(start, end, values)
    return [first, *(_copy(labeling, first, by) for by in ("reviewer", "admin"))]


def _get_sample_sizes(report: dict[str, Any]) -> tuple[int, int]:
    return report["baseline"]["n"], report["current"]["n"]


def test_a_document_is_one_observation(labeling: Labeling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "BATCH_SIZE", 7)
    before = _add_with_two_copies(labeling, 35, 7, build_kind_values(80, 10))
    after = _add_with_two_copies(labeling, 7, 0, build_kind_values(5, 40))
    for tag_set_ids in before:
        labeling.predict(tag_set_ids, "kind", correct=0.98, confidence=0.95)
    for tag_set_ids in after:
        labeling.predict(tag_set_ids, "kind", correct=0.6, confidence=0.6)
    report_by_metric = {(r["subject"], r["metric"]): r for r in labeling.detect()}
    assert report_by_metric.keys() == {
        ("labeling", "values"),
        ("model", "accuracy"),
        ("model", "confidence"),
        ("model", "correction_rate"),
    }
    assert {_get_sample_sizes(report) for report in report_by_metric.values()} == {(90, 45)}


def test_repeated_observations_are_no_evidence(labeling: Labeling) -> None:
    """The difference would be significant only if each document counted three times."""
    _add_with_two_copies(labeling, 35, 7, build_kind_values(60, 30))
    _add_with_two_copies(labeling, 7, 0, build_kind_values(20, 25))
    assert labeling.detect() == []


def test_a_merge_represents_its_document(labeling: Labeling) -> None:
    labeling.add(35, 7, build_kind_values(80, 10))
    merges = labeling.add(7, 0, build_kind_values(0, 45), by=("labeler",))
    labeling.workspace.sql(
        "UPDATE tag_sets SET source = 'merge', labeler_id = NULL"
        " WHERE id IN (SELECT id FROM jsonb_to_recordset(CAST(:ids AS jsonb)) AS one (id uuid))",
        ids=orjson.dumps([{"id": merge_id} for merge_id in merges]).decode(),
    )
    _copy(labeling, merges, "labeler", kind="a")
    _copy(labeling, merges, "reviewer", kind="a")
    (report,) = [r for r in labeling.detect() if r["labeler_id"] is None]
    assert (_get_sample_sizes(report), report["category"]) == ((90, 45), "a")
    assert report["current"]["value"] == 0


def test_peers_have_one_tag_set_of_each_document(labeling: Labeling) -> None:
    org = labeling.workspace.org
    first = labeling.add(7, 0, build_kind_values(45, 0), by=("admin",))
    _copy(labeling, first, "reviewer")
    _copy(labeling, first, "labeler", kind="b")
    # This labeler has two tag sets on each document; the newest one counts.
    _copy(labeling, _copy(labeling, first, "labeler"), "labeler", kind="b")
    report = {r["labeler_id"]: r for r in labeling.detect()}[str(org.users["labeler"])]
    assert _get_sample_sizes(report) == (45, 45)
    assert (report["current"]["value"], report["baseline"]["value"]) in ((0, 1), (1, 0))


def test_reports_warn_about_omitted_data(
    labeling: Labeling, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (detecting, reporting):
        monkeypatch.setattr(module, "MAX_DOCUMENTS", 60)
        monkeypatch.setattr(module, "MAX_DECISIONS", 70)
    labeling.add(35, 7, build_kind_values(80, 10))
    labeling.add(7, 0, build_kind_values(5, 40), kinds=("accept", "reject"))
    labeling.add(7, 0, build_kind_values(0, 45))
    report_by_metric = {report["metric"]: report for report in labeling.detect()}
    assert _get_sample_sizes(report_by_metric["values"]) == (60, 60)
    assert report_by_metric["values"]["warnings"] == [
        "Only the newest 60 documents of a period are compared."
    ]
    assert _get_sample_sizes(report_by_metric["acceptance_rate"]) == (70, 70)
    assert report_by_metric["acceptance_rate"]["warnings"] == [
        "Only the newest 70 review decisions of a period are compared."
    ]
