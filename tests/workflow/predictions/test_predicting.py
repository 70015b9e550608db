"""What a prediction stores: only tags that fit the document as it is when the prediction ends."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Engine, event

from app.engines.extraction import rule_based
from app.engines.fields import CompiledFields
from tests.factories import run_jobs_of
from tests.factories.workspace import Workspace
from tests.workflow.actions import get_data, start_draft, submit
from tests.workflow.predictions.conftest import (
    FIELDS,
    TEXT,
    create_document,
    predict,
    show_prediction,
)


def _build_tag(value: str) -> dict[str, Any]:
    start = TEXT.index(value)
    place = {"page": 1, "box": None, "start": start, "end": start + len(value), "text": value}
    return {
        "field": "number",
        "value": value,
        "row": None,
        "confidence": 0.9,
        "source": "model",
        "evidence": [place],
    }


def _propose(
    monkeypatch: pytest.MonkeyPatch, tags: list[Any], meanwhile: Callable[[], None]
) -> None:
    def propose(*_: Any) -> list[Any]:
        meanwhile()
        return tags

    monkeypatch.setattr(rule_based, "propose_by_rules", propose)


def _request(workspace: Workspace) -> str:
    """Create a document and request its prediction; return the document's id."""
    artifact_id = create_document(workspace)
    assert predict(workspace, artifact_id).status_code == 202
    return artifact_id


def _complete(workspace: Workspace, artifact_id: str) -> list[Any]:
    """Run the queued prediction, and return the values that it stores."""
    run_jobs_of(workspace.org, "predictions")
    assert show_prediction(workspace, artifact_id)["status"] == "completed"
    ((tags,),) = workspace.sql("SELECT tags FROM predictions")
    return [tag["value"] for tag in tags]


def test_tags_that_do_not_fit_are_left_out(
    assisted_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact_id = _request(assisted_workspace)
    moved = _build_tag("A-17")
    moved["evidence"][0]["start"] -= 1
    unknown = {**_build_tag("ACME"), "field": "unknown"}
    tags = [moved, unknown, _build_tag("A-17"), _build_tag("ACME")]
    _propose(monkeypatch, tags, lambda: None)
    assert _complete(assisted_workspace, artifact_id) == ["A-17"]


def test_a_document_that_is_read_again_meanwhile(assisted_workspace: Workspace) -> None:
    artifact_id = _request(assisted_workspace)
    assisted_workspace.sql("UPDATE artifacts SET status = 'processing'")
    # More runs than attempts, because text recognition can take minutes.
    for _ in range(5):
        assert run_jobs_of(assisted_workspace.org, "predictions") == 1
        assert show_prediction(assisted_workspace, artifact_id)["status"] == "queued"
        assisted_workspace.sql("UPDATE jobs SET due_at = now() WHERE due_at IS NOT NULL")
    assisted_workspace.sql("UPDATE artifacts SET status = 'ready'")
    run_jobs_of(assisted_workspace.org, "predictions")
    assert show_prediction(assisted_workspace, artifact_id)["status"] == "completed"


READ_FOR_A_DAY = (
    "UPDATE artifacts SET status = 'processing'",
    "UPDATE predictions SET created_at = now() - interval '25 hours'",
)
UNREADABLE = ("UPDATE artifacts SET status = 'failed'",)


@pytest.mark.parametrize("changes", [READ_FOR_A_DAY, UNREADABLE], ids=["read for a day", "failed"])
def test_a_document_that_does_not_become_ready(
    assisted_workspace: Workspace, changes: tuple[str, ...]
) -> None:
    artifact_id = _request(assisted_workspace)
    for statement in changes:
        assisted_workspace.sql(statement)
    run_jobs_of(assisted_workspace.org, "predictions")
    shown = show_prediction(assisted_workspace, artifact_id)
    assert (shown["status"], shown["error"]["code"]) == ("failed", "not_ready")


def test_a_text_that_changes_meanwhile(
    assisted_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact_id = _request(assisted_workspace)

    def change_text() -> None:
        assisted_workspace.sql("UPDATE artifact_texts SET text = 'B' || substr(text, 2)")
        assisted_workspace.sql("UPDATE artifacts SET updated_at = clock_timestamp()")

    tags = [_build_tag("ACME"), _build_tag("A-17")]
    _propose(monkeypatch, tags, change_text)
    assert _complete(assisted_workspace, artifact_id) == ["A-17"]


def test_tags_are_checked_before_the_document_is_locked(
    assisted_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact_id = _request(assisted_workspace)
    steps: list[str] = []
    check = CompiledFields.keep_valid_tags

    def keep_valid_tags(*args: Any, **members: Any) -> Any:
        steps.append("check")
        return check(*args, **members)

    def follow(_c: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if "FROM artifacts" in statement and "FOR " in statement:
            steps.append("lock")

    monkeypatch.setattr(CompiledFields, "keep_valid_tags", keep_valid_tags)
    _propose(monkeypatch, [_build_tag("A-17")], lambda: None)
    event.listen(Engine, "before_cursor_execute", follow)
    try:
        assert _complete(assisted_workspace, artifact_id) == ["A-17"]
    finally:
        event.remove(Engine, "before_cursor_execute", follow)
    assert steps[:2] == ["check", "lock"]
    assert steps.count("check") == 1


def _submit_prediction(workspace: Workspace, schema_id: Any, version: str) -> Any:
    """Submit a draft that is left as a prediction made it; return the tag set."""
    artifact_id = create_document(workspace, f"{TEXT}{version}", schema_id=str(schema_id))
    predict(workspace, artifact_id)
    run_jobs_of(workspace.org, "predictions")
    assert show_prediction(workspace, artifact_id)["model_version"] == "rules-1"
    workspace.sql(
        "UPDATE predictions SET model_version = :version WHERE artifact_id = :id",
        version=version,
        id=artifact_id,
    )
    draft = get_data(start_draft(workspace, artifact_id, source="prediction"))
    assert draft["tags"]
    assert all(tag["source"] == "model" for tag in draft["tags"])
    return get_data(submit(workspace, draft))


def test_rules_never_accept_by_themselves(assisted_workspace: Workspace) -> None:
    schema_id = assisted_workspace.schema(fields=FIELDS, auto_accept_confidence=0.0)
    assisted_workspace.sql("UPDATE schemas SET ai_assist_enabled = true")
    assert _submit_prediction(assisted_workspace, schema_id, "rules-1")["status"] == "submitted"
    # The same tags of a trained model are accepted.
    assert _submit_prediction(assisted_workspace, schema_id, "0a1b2c")["status"] == "accepted"
