"""Writers at the same instant, and what a save costs."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event

from app.kit import db
from app.kit.prepared import Prepared
from tests.factories.queueing import run_concurrently
from tests.factories.workspace import Workspace, counts, tag
from tests.workflow.actions import accept, get_tag_set, start_draft, submit

_THREADS = 4


def test_of_writers_at_once_exactly_one_wins(workspace: Workspace) -> None:
    draft = workspace.draft()
    for turn in range(10):
        answers = run_concurrently(
            *(
                lambda v=f"{turn}-{i}", d=draft: workspace.save(d, [tag("number", v)])
                for i in range(_THREADS)
            )
        )
        codes = sorted(a.status_code for a in answers)
        assert codes == [200] + [409] * (_THREADS - 1)
        (won,) = [a.json["data"] for a in answers if a.status_code == 200]
        for lost in (a.json["error"] for a in answers if a.status_code == 409):
            assert lost["code"] == "stale_precondition"
            assert lost["details"]["current_revision"] == won["revision"]
            (change,) = lost["details"]["changes"]
            assert change["to"] == won["tags"][0]
        draft = won
    kept = workspace.revisions(draft["id"])
    assert [r.number for r in kept] == list(range(1, 12))
    assert kept[-1].tags == draft["tags"]
    assert len(workspace.events("tag_set.saved")) == 10


def test_of_acceptances_at_once_one_succeeds_and_emits_one_event(workspace: Workspace) -> None:
    workspace.org.add_user("other", "reviewer")
    schema_id = workspace.schema()
    for _ in range(5):
        sent = workspace.submitted(workspace.artifact(schema_id))
        answers = run_concurrently(
            *(lambda r=r, s=sent: accept(workspace, s, by=r) for r in ("reviewer", "other"))
        )
        assert sorted(a.status_code for a in answers) == [200, 409]
        (lost,) = [a.json["error"] for a in answers if a.status_code == 409]
        assert lost["details"] == {"state": "accepted"}
        accepted_ids = [data["tag_set_id"] for data in workspace.events("tag_set.accepted")]
        assert accepted_ids.count(sent["id"]) == 1
        assert [r.number for r in workspace.revisions(sent["id"])] == [1, 2, 3, 4]


def test_a_save_and_a_submission_at_once_lose_nothing(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    for _ in range(5):
        draft = workspace.saved(workspace.artifact(schema_id))
        saved, sent = run_concurrently(
            lambda d=draft: workspace.save(d, [tag("number", "B")]),
            lambda d=draft: submit(workspace, d),
        )
        assert sent.status_code == 200
        read = get_tag_set(workspace, draft)
        expected = "B" if saved.status_code == 200 else "A-1"
        assert read["tags"][0]["value"] == expected
        assert read["status"] == "submitted"


def test_of_drafts_at_once_one_takes_the_document(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    schema_id = workspace.schema()
    for _ in range(5):
        artifact_id = workspace.artifact(schema_id)
        answers = run_concurrently(
            *(
                lambda r=r, a=artifact_id: start_draft(workspace, a, by=r)
                for r in ("labeler", "second", "labeler")
            )
        )
        assert sorted(a.status_code for a in answers) == [201, 409, 409]
        assert workspace.artifact_row(artifact_id).label_counts == counts(draft=1)


def test_label_sets_of_one_document_are_counted_right(workspace: Workspace) -> None:
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=4))
    people = ["labeler", "second", "third", "fourth"]
    for name in people[1:]:
        workspace.org.add_user(name, "labeler")
    drafts = {name: workspace.saved(artifact_id, by=name) for name in people}
    answers = run_concurrently(*(lambda n=n: submit(workspace, drafts[n], by=n) for n in people))
    assert {a.status_code for a in answers} == {200}
    row = workspace.artifact_row(artifact_id)
    assert (row.status, row.label_counts) == ("in_review", counts(submitted=4))


def test_a_save_is_five_statements_at_most(
    workspace: Workspace, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = workspace.saved()
    sent: list[str] = []
    run = Prepared.execute

    def note_prepared(self: Prepared, *values: Any) -> Any:
        sent.append(self.name)
        return run(self, *values)

    def note(_conn: Any, _cursor: Any, statement: str, *_: Any) -> None:
        sent.append(statement)

    with app.app_context():
        engine = db.engine()
    monkeypatch.setattr(Prepared, "execute", note_prepared)
    event.listen(engine, "after_cursor_execute", note)
    try:
        saved = workspace.save(draft, [tag("number", "A-2")])
    finally:
        event.remove(engine, "after_cursor_execute", note)
    assert saved.status_code == 200
    assert {"authenticate", "lock_draft", "save_draft"} < set(sent)
    assert len(workspace.events("tag_set.saved")) == 2
    assert len(sent) <= 5, sent
