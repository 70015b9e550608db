"""Accepted tag sets that began from a prediction are recorded exactly once."""

from typing import Any
from uuid import UUID

import pytest

from app.insight.feedback.queries import accepted
from app.insight.feedback.service import automatic
from app.kit import db, tenancy
from tests.factories import Org
from tests.factories.counts import find_differences
from tests.factories.feedback import Assisted, count_outcomes, make_predicted_tag
from tests.factories.orgs import get_data
from tests.factories.workspace import tag


def _record_accepted(assisted: Assisted, **decision: Any) -> dict[str, Any]:
    """Accept a tag set whose only tag, the number A-1, was predicted, and record the feedback."""
    draft = assisted.draft([make_predicted_tag("number", "A-1")])
    assisted.accept(draft, **decision)
    assisted.record()
    return draft


def _record_saved(assisted: Assisted, predicted: list[Any], saved: list[Any]) -> None:
    """Accept a tag set whose predicted tags the labeler replaced, and record the feedback."""
    draft = assisted.draft(predicted)
    assisted.save(draft, saved)
    assisted.accept(draft)
    assisted.record()


def test_each_value_has_an_outcome(assisted: Assisted) -> None:
    number = make_predicted_tag("number", "A-1", 0.97)
    total = make_predicted_tag("total", {"amount": "10.00", "currency": "EUR"}, 0.61)
    predicted = [number, total, make_predicted_tag("pages", 3, 0.2)]
    _record_saved(assisted, predicted, [number, tag("total", "12.00 EUR"), tag("note", "paid")])
    assert [(row[1], row[4], row[5], row[6]) for row in assisted.rows()] == [
        ("number", "correct", 970_000, 97),
        ("total", "corrected", 610_000, 61),
        ("note", "missed", None, None),
        ("pages", "spurious", 200_000, 20),
    ]
    summary = assisted.summary()
    assert [model["model"] for model in summary["models"]] == ["m-1"]
    assert count_outcomes(summary["total"]) == (1, 1, 1, 1)
    assert summary["total"]["predictions"] == 3


def test_equal_amounts_are_correct_however_they_are_written(assisted: Assisted) -> None:
    total = make_predicted_tag("total", {"amount": "1.5", "currency": "EUR"})
    predicted = [make_predicted_tag("number", "A-1"), total]
    _record_saved(assisted, predicted, [tag("number", "A-1"), tag("total", "1.50 EUR")])
    assert count_outcomes(assisted.summary()["total"]) == (2, 0, 0, 0)


def test_cells_are_compared_in_rows_that_match(assisted: Assisted) -> None:
    cells = [
        make_predicted_tag("lines.item", item, row=row) for row, item in enumerate(["Rope", "Nail"])
    ]
    predicted = [make_predicted_tag("number", "A-1"), *cells]
    kept = [tag("lines.item", item, row=row) for row, item in enumerate(["Saw", "Rope", "Nail"])]
    _record_saved(assisted, predicted, [tag("number", "A-1"), *kept])
    fields = {field["field"]: count_outcomes(field) for field in assisted.by_field()["fields"]}
    assert fields == {"number": (1, 0, 0, 0), "lines.item": (2, 0, 1, 0)}


def test_spans_are_compared_by_position(assisted: Assisted) -> None:
    place = {"page": 1, "box": None, "start": 5, "end": 9, "text": "xxxx"}
    kept, moved = (
        make_predicted_tag("clause", "xxxx", evidence=[place]),
        make_predicted_tag("clause", "xxxx", evidence=[{**place, "start": 50, "end": 54}]),
    )
    schema = assisted.workspace.schema()
    for span in (kept, moved):
        artifact = assisted.workspace.artifact(schema)
        draft = assisted.draft([make_predicted_tag("number", "A-1"), span], artifact_id=artifact)
        evidence = [{"page": 1, "start": 5, "end": 9}]
        assisted.save(draft, [tag("number", "A-1"), {"field": "clause", "evidence": evidence}])
        assisted.accept(draft)
    assisted.record()
    fields = {field["field"]: count_outcomes(field) for field in assisted.by_field()["fields"]}
    # A span that does not overlap is a different span.
    assert fields["clause"] == (1, 0, 1, 1)


def test_the_corrections_of_the_reviewer_count(assisted: Assisted) -> None:
    _record_accepted(assisted, tags=[tag("number", "B-2")])
    assert count_outcomes(assisted.summary()["total"]) == (0, 1, 0, 0)


def test_tag_sets_without_a_prediction_are_not_recorded(assisted: Assisted) -> None:
    assisted.workspace.act(assisted.workspace.submitted(), "accept")
    assisted.record()
    assert assisted.rows() == []


def test_recording_twice_changes_nothing(assisted: Assisted) -> None:
    draft = _record_accepted(assisted)
    before = assisted.rows()
    assert len(before) == 1
    _record(assisted, draft)
    _record(assisted, draft)
    assert assisted.rows() == before


def _record(assisted: Assisted, draft: dict[str, Any]) -> None:
    with assisted.org.transaction():
        automatic.record([(draft["artifact_id"], draft["id"])])


@pytest.mark.parametrize("to", ["review", "labeler"])
def test_a_reopened_tag_set_has_no_feedback_until_it_is_accepted_again(
    assisted: Assisted, to: str
) -> None:
    draft = _record_accepted(assisted)
    assert count_outcomes(assisted.summary()["total"]) == (1, 0, 0, 0)
    assisted.workspace.act(draft, "reopen", reason="Look again", to=to)
    assisted.record()
    assert assisted.rows() == []
    assert assisted.summary()["models"] == []
    if to == "labeler":
        assisted.submit(draft)
    assisted.workspace.act(draft, "accept", tags=[tag("number", "B-2")])
    assisted.record()
    assert count_outcomes(assisted.summary()["total"]) == (0, 1, 0, 0)


def test_events_may_be_handled_late_and_together(assisted: Assisted) -> None:
    draft = assisted.draft([make_predicted_tag("number", "A-1")])
    assisted.accept(draft)
    for _ in range(2):
        assisted.workspace.act(draft, "reopen", reason="No", to="review")
        assisted.workspace.act(draft, "accept")
    assisted.record()
    assert count_outcomes(assisted.summary()["total"]) == (1, 0, 0, 0)


def test_feedback_is_erased_with_its_document(assisted: Assisted) -> None:
    draft = _record_accepted(assisted)
    deleted = assisted.org.api("admin").delete(f"/artifacts/{draft['artifact_id']}")
    assert deleted.status_code == 204, deleted.json
    assert assisted.rows() == []
    assert assisted.summary()["models"] == []
    assert assisted.by_field()["total"]["calibration"]["predictions"] == 0


def _count_documents(assisted: Assisted) -> int:
    ((count,),) = assisted.workspace.sql(
        "SELECT count(*) FROM feedback_documents WHERE organization_id = :o", o=assisted.org.id
    )
    return int(count)


def _reopen_and_delete(assisted: Assisted, draft: dict[str, Any]) -> None:
    assisted.workspace.act(draft, "reopen", reason="Look again", to="labeler")
    deleted = assisted.org.api("admin").delete(f"/tag-sets/{draft['id']}")
    assert deleted.status_code == 204, deleted.json


@pytest.mark.parametrize("recorded", [True, False])
def test_documents_are_not_counted_after_their_tag_set_is_deleted(
    assisted: Assisted, *, recorded: bool
) -> None:
    draft = assisted.draft([make_predicted_tag("number", "A-1")])
    assisted.accept(draft)
    if recorded:
        assisted.record()
        assert _count_documents(assisted) == 1
    _reopen_and_delete(assisted, draft)
    assisted.record()
    assert assisted.rows() == []
    assert _count_documents(assisted) == 0
    assert assisted.summary()["models"] == []


def test_reports_on_a_deleted_draft_are_not_counted(assisted: Assisted) -> None:
    draft = assisted.workspace.draft()
    report = {"artifact_id": draft["artifact_id"], "tag_set_id": draft["id"], "field": "number"}
    api = assisted.org.api("labeler")
    for model, named in (("own", report), ("other", {**report, "tag_set_id": None})):
        sent = {**named, "model": model, "predicted": "A-1"}
        get_data(api.post("/feedback/predictions", json=sent), 201)
    assert api.delete(f"/tag-sets/{draft['id']}").status_code == 204
    assisted.record()
    # The other model has feedback without a tag set, and no longer shares the document.
    remaining = assisted.workspace.sql(
        "SELECT model, shared FROM feedback_documents WHERE organization_id = :o", o=assisted.org.id
    )
    assert [tuple(row) for row in remaining] == [("other", False)]


def test_large_tag_sets_are_read_in_chunks_or_left_out(
    assisted: Assisted, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = assisted.workspace.schema()
    for length in (10, 700, 10, 10):
        artifact = assisted.workspace.artifact(schema)
        draft = assisted.draft([make_predicted_tag("number", "A" * length)], artifact_id=artifact)
        assisted.accept(draft)
    # Two of the small tag sets, each with its first and its accepted tags, fit in one chunk.
    monkeypatch.setattr(accepted, "MAX_BYTES", 600)
    chunks, load_chunk = [], accepted._load_chunk

    def load(tag_set_ids: list[UUID]) -> list[accepted.EligibleTagSet]:
        rows = load_chunk(tag_set_ids)
        chunks.append(len(rows))
        return rows

    monkeypatch.setattr(accepted, "_load_chunk", load)
    assisted.record()
    assert chunks == [2, 1]
    assert count_outcomes(assisted.summary()["total"]) == (3, 0, 0, 0)


def test_untouched_suggestions_do_not_count_in_calibration(org: Org) -> None:
    assisted = Assisted(org)
    schema = assisted.workspace.schema(sample_rate=0)
    untouched = assisted.draft(
        [make_predicted_tag("number", "A-1")], artifact_id=assisted.workspace.artifact(schema)
    )
    assisted.submit(untouched)
    saved = assisted.draft(
        [make_predicted_tag("number", "A-1"), make_predicted_tag("pages", 3)],
        artifact_id=assisted.workspace.artifact(schema),
    )
    assisted.save(saved, [make_predicted_tag("number", "A-1"), tag("pages", 4)])
    assisted.submit(saved)
    assisted.record()
    totals = assisted.by_field()["total"]
    assert count_outcomes(totals) == (2, 1, 0, 0)
    assert totals["calibration"]["predictions"] == 2


def test_what_a_reviewer_accepts_counts_in_calibration(assisted: Assisted) -> None:
    _record_accepted(assisted)
    assert assisted.by_field()["total"]["calibration"]["predictions"] == 1


def test_a_rebuild_from_scratch_gives_the_same_rows(assisted: Assisted) -> None:
    schema = assisted.workspace.schema()
    for number in range(3):
        draft = assisted.draft(
            [
                make_predicted_tag("number", f"A-{number}", 0.1 * number),
                make_predicted_tag("pages", number),
            ],
            artifact_id=assisted.workspace.artifact(schema),
        )
        assisted.save(draft, [make_predicted_tag("number", f"A-{number}", 0.1 * number)])
        assisted.accept(draft)
    assisted.record()
    rows, fields, models = assisted.rows(), assisted.by_field(), assisted.read("/feedback/models")
    assert len(rows) == 6
    workspace = assisted.workspace
    workspace.sql("DELETE FROM prediction_feedback WHERE organization_id = :o", o=assisted.org.id)
    workspace.sql("DELETE FROM feedback_documents WHERE organization_id = :o", o=assisted.org.id)
    assert assisted.summary()["models"] == []
    with assisted.org.app.app_context(), tenancy.organization(assisted.org.id):
        assert automatic.rebuild(db.session().commit) == 3
    assert assisted.rows() == rows
    assert assisted.by_field() == fields
    assert assisted.read("/feedback/models") == models
    assert find_differences(assisted.org) == []
