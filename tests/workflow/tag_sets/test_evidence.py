"""Evidence is what the document says: compared when tags are saved, and completed from it."""

from typing import Any
from uuid import UUID

import pytest

from tests.factories.errors import check_invalid_field
from tests.factories.workspace import Workspace, tag
from tests.workflow.actions import accept, get_tag_set, start_draft, submit, submit_tags
from tests.workflow.tag_sets.merges import merge

TEXT = "Total 😀: 100 EUR\nCafe\u0301 Zürich\n"


def _piece(text: str, said: str | None = None, **members: Any) -> dict[str, Any]:
    start = TEXT.index(text)
    said_too = {} if said is None else {"text": said}
    return {"start": start, "end": start + len(text), **said_too, **members}


def _evidence(answer: Any) -> dict[str, Any]:
    assert answer.status_code == 200, answer.json
    return dict(answer.json["data"]["tags"][0]["evidence"][0])


def test_text_of_another_place_is_refused_with_both_texts(workspace: Workspace) -> None:
    draft = workspace.draft(workspace.artifact(text=TEXT))
    start = TEXT.index("100") + 1  # As a client finds it that counts in UTF-16.
    piece = {"start": start, "end": start + 3, "text": "100"}
    answer = workspace.save(draft, [tag("note", "a"), tag("number", "100", evidence=[piece])])
    error = check_invalid_field(answer, "tags.1.evidence.0.text")
    assert '"100"' in error["message"]
    assert '"00 "' in error["message"]
    assert len(workspace.revisions(draft["id"])) == 1


def test_long_texts_are_shown_around_their_first_difference(workspace: Workspace) -> None:
    text = "a" * 500 + "b" + "c" * 500
    draft = workspace.draft(workspace.artifact(text=text))
    piece = {"start": 0, "end": 1001, "text": text.replace("b", "B")}
    error = workspace.save(draft, [tag("number", "1", evidence=[piece])]).json["error"]
    assert "aaBcc" in error["message"]
    assert "aabcc" in error["message"]
    assert len(error["message"]) < 300


def test_the_right_text_is_taken_and_a_missing_one_filled_in(workspace: Workspace) -> None:
    draft = workspace.draft(workspace.artifact(text=TEXT))
    tags = [tag("number", "100", evidence=[_piece("100", "100", page=1)])]
    first = workspace.save(draft, tags)
    assert _evidence(first)["text"] == "100"
    tags = [tag("number", "100", evidence=[_piece("100 EUR")])]
    assert _evidence(workspace.save(first.json["data"], tags))["text"] == "100 EUR"


def test_a_span_takes_its_value_from_the_document(workspace: Workspace) -> None:
    draft = workspace.draft(workspace.artifact(text=TEXT))
    answer = workspace.save(draft, [{"field": "clause", "evidence": [_piece("100 EUR")]}])
    assert answer.json["data"]["tags"][0]["value"] == "100 EUR"


def test_accents_may_be_composed_and_are_stored_as_the_document_has_them(
    workspace: Workspace,
) -> None:
    draft = workspace.draft(workspace.artifact(text=TEXT))
    piece = _piece("Cafe\u0301 Zürich", "Caf\u00e9 Zürich")
    assert _evidence(workspace.save(draft, [tag("number", "1", evidence=[piece])]))["text"] == (
        "Cafe\u0301 Zürich"
    )


def test_text_without_offsets_is_the_persons_own(workspace: Workspace) -> None:
    draft = workspace.draft(workspace.artifact(text=TEXT))
    piece = {"page": 1, "box": [0.1, 0.1, 0.2, 0.2], "text": "read from the picture"}
    found = _evidence(workspace.save(draft, [tag("number", "1", evidence=[piece])]))
    assert (found["text"], found["start"]) == ("read from the picture", None)


def test_what_is_too_long_to_complete_stays_without_text(workspace: Workspace) -> None:
    draft = workspace.draft(workspace.artifact(text_length=20_001))
    pieces = [{"start": 0, "end": 20_001}, {"start": 0, "end": 20_000}]
    answer = workspace.save(draft, [tag("number", "1", evidence=pieces)])
    texts = [piece["text"] for piece in answer.json["data"]["tags"][0]["evidence"]]
    assert texts == [None, "x" * 20_000]
    many = [tag("note", str(n), evidence=[{"start": 0, "end": 20_000}] * 100) for n in range(20)]
    saved = workspace.save(answer.json["data"], many)
    kept = [p["text"] for one in saved.json["data"]["tags"] for p in one["evidence"]]
    assert sum(len(text) for text in kept if text) == 1_000_000


def _change_text(workspace: Workspace, artifact_id: UUID) -> None:
    workspace.sql(
        "UPDATE artifact_texts SET text = 'Summe 200' WHERE artifact_id = :id", id=artifact_id
    )
    workspace.sql("UPDATE artifacts SET updated_at = now() WHERE id = :id", id=artifact_id)


def test_a_document_that_changed_is_compared_as_it_is_now(workspace: Workspace) -> None:
    artifact_id = workspace.artifact(text="Total 100")
    saved = workspace.save(workspace.draft(artifact_id), [_total()]).json["data"]
    _change_text(workspace, artifact_id)
    assert submit(workspace, saved).json["error"]["field"] == "tags.0.evidence.0.text"
    assert workspace.save(saved, [_total()]).status_code == 400


@pytest.mark.parametrize("text", ["100", "200"])
def test_corrections_are_compared_too(workspace: Workspace, text: str) -> None:
    sent = workspace.submitted(workspace.artifact(text="Total 100"))
    answer = accept(workspace, sent, tags=[_total(text)])
    assert answer.status_code == (200 if text == "100" else 400), answer.json


def test_a_merge_is_compared_too(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    document = workspace.artifact(workspace.schema(labels_per_artifact=2), text="Total 100")
    sent = [workspace.submitted(document, by=by) for by in ("labeler", "second")]
    refused = merge(workspace, sent, strategy="majority", tags=[_total("2")])
    assert refused.json["error"]["field"] == "tags.0.evidence.0.text", refused.json
    merged = merge(workspace, sent, strategy="majority", tags=[_total()])
    assert merged.status_code == 201, merged.json


def test_a_copy_leaves_behind_what_the_document_does_not_say(workspace: Workspace) -> None:
    artifact_id = workspace.artifact(text="Total 100")
    tags = [_total(), tag("note", "kept")]
    first = workspace.save(workspace.draft(artifact_id), tags).json["data"]
    workspace.release(artifact_id)
    _change_text(workspace, artifact_id)
    copy = start_draft(workspace, artifact_id, source=first["id"], by="reviewer")
    assert [copied["field"] for copied in copy.json["data"]["tags"]] == ["note"]


def test_unchanged_tags_of_old_are_no_correction(workspace: Workspace) -> None:
    sent = submit_tags(workspace, workspace.artifact(text="Total 100"), [_total()])
    workspace.sql(
        "UPDATE tag_sets SET tags = jsonb_set(tags, '{0,evidence,0,text}', 'null') WHERE id = :id",
        id=sent["id"],
    )
    tags = get_tag_set(workspace, sent)["tags"]
    assert tags != sent["tags"]
    assert accept(workspace, sent, tags=tags).status_code == 200
    assert workspace.revisions(sent["id"])[-1].kind == "accept"


def _total(text: str = "100") -> dict[str, Any]:
    return tag("number", "100", evidence=[{"start": 6, "end": 9, "text": text}])
