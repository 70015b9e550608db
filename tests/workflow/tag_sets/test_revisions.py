"""Every saved revision: who, when, what changed."""

from typing import Any

import pytest
from flask import Flask

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.statements import record_statements
from tests.factories.workspace import Workspace, tag
from tests.workflow.actions import reject, start_draft, submit


def _revisions(
    workspace: Workspace, tag_set: dict[str, Any], query: str = "", *, by: str = "reviewer"
) -> Any:
    return workspace.org.api(by).get(f"/tag-sets/{tag_set['id']}/revisions{query}")


def test_each_change_has_its_revision_the_latest_first(workspace: Workspace) -> None:
    draft = workspace.draft()
    saved = workspace.save(draft, [tag("number", "A-1"), tag("note", "x")]).json["data"]
    workspace.save(saved, [tag("number", "A-2")], by="admin")
    submit(workspace, draft)
    reject(workspace, draft, reason="The total is missing.")
    answer = _revisions(workspace, draft)
    assert answer.status_code == 200
    assert answer.json["meta"]["total"] == 5
    rows = answer.json["data"]
    people = [row["author"]["id"] for row in rows]
    names = ["reviewer", "labeler", "admin", "labeler", "labeler"]
    assert people == [str(workspace.org.users[name]) for name in names]
    assert [(row["number"], row["kind"], row["tag_count"]) for row in rows] == [
        (5, "reject", 1), (4, "submit", 1), (3, "save", 1), (2, "save", 2), (1, "create", 0),
    ]  # fmt: skip
    assert rows[0]["note"] == "The total is missing."
    assert rows[0].keys() == {
        "number", "kind", "author", "note", "created_at", "updated_at", "tag_count", "changes",
    }  # fmt: skip
    assert all(row["updated_at"] == row["created_at"] for row in rows)
    assert rows[0]["author"].keys() == {"id", "email", "name"}
    assert rows[0]["changes"] == {
        "added": 0, "removed": 0, "changed": 0, "entries": [], "moved": [],
        "truncated": False,
    }  # fmt: skip
    third = rows[2]["changes"]
    assert (third["added"], third["removed"], third["changed"]) == (0, 1, 1)
    number, note = third["entries"]
    assert (number["field"], number["kind"], number["members"]) == ("number", "changed", ["value"])
    assert (number["from"]["value"], number["to"]["value"]) == ("A-1", "A-2")
    assert (note["field"], note["kind"], note["to"]) == ("note", "removed", None)
    assert rows[3]["changes"]["added"] == 2


def test_revisions_are_filtered_by_their_time(workspace: Workspace) -> None:
    draft = workspace.draft()
    workspace.save(draft, [tag("number", "A-1")])
    made, saved = (row["created_at"] for row in reversed(_revisions(workspace, draft).json["data"]))

    def numbers(query: str) -> list[int]:
        answer = _revisions(workspace, draft, f"?{query}").json
        assert answer["meta"]["total"] == len(answer["data"])
        return [row["number"] for row in answer["data"]]

    assert numbers(f"created_after={saved}") == [2]
    assert numbers(f"created_before={saved}") == [1]
    assert numbers(f"created_after={made}&created_before={saved}") == [1]


def test_pages_are_by_number(workspace: Workspace) -> None:
    draft = workspace.draft()
    for count in range(1, 5):
        draft = workspace.save(draft, [tag("note", f"n{n}") for n in range(count)]).json["data"]
    first = _revisions(workspace, draft, "?page_size=2").json
    assert [row["number"] for row in first["data"]] == [5, 4]
    assert first["data"][1]["changes"]["added"] == 1
    cursor = first["meta"]["next_cursor"]
    second = _revisions(workspace, draft, f"?page_size=2&cursor={cursor}").json
    assert [row["number"] for row in second["data"]] == [3, 2]
    oldest = _revisions(workspace, draft, "?sort=number&page_size=1").json["data"]
    assert [row["number"] for row in oldest] == [1]


def test_a_copy_says_what_it_began_with(workspace: Workspace) -> None:
    first = workspace.saved()
    workspace.release(first["artifact_id"])
    copy = start_draft(workspace, first["artifact_id"], source=first["id"], by="reviewer")
    (only,) = _revisions(workspace, copy.json["data"]).json["data"]
    assert (only["kind"], only["changes"]["added"]) == ("create", 1)


def test_large_revisions_tell_their_changes_on_smaller_pages(workspace: Workspace) -> None:
    long = {"start": 0, "end": 20_000, "text": "x" * 20_000}
    tags = [tag("note", f"n{n}", evidence=[long]) for n in range(10)]
    draft = workspace.draft(workspace.artifact(text_length=20_000))
    saved = workspace.save(draft, tags).json["data"]
    workspace.save(saved, tags[:9])
    rows = _revisions(workspace, saved, "?page_size=100").json["data"]
    assert [row["changes"] for row in rows[:2]] == [None, None]
    assert rows[2]["changes"]["added"] == 0
    assert [row["tag_count"] for row in rows] == [9, 10, 0]
    few = _revisions(workspace, saved, "?page_size=10").json["data"]
    assert [row["changes"]["removed"] for row in few] == [1, 0, 0]


def test_revisions_saved_before_their_size_was_noted_are_read_too(workspace: Workspace) -> None:
    draft = workspace.saved()
    workspace.sql("UPDATE tag_set_revisions SET tag_count = NULL, tags_bytes = NULL")
    latest = _revisions(workspace, draft).json["data"][0]
    assert (latest["tag_count"], latest["changes"]["added"]) == (1, 1)


@pytest.mark.parametrize("size", [2, 20])
def test_a_page_is_so_many_statements_however_long(
    size: int, workspace: Workspace, app: Flask
) -> None:
    draft = workspace.draft()
    for count in range(size):
        draft = workspace.save(draft, [tag("number", f"A-{count}")]).json["data"]
    with record_statements(app) as sent:
        assert len(_revisions(workspace, draft).json["data"]) == size + 1
    assert len(sent) <= 5, sent


def test_hidden_and_foreign_label_sets_have_none(workspace: Workspace, other_org: Org) -> None:
    workspace.org.add_user("second", "labeler")
    blind = workspace.draft(workspace.artifact(workspace.schema(labels_per_artifact=2)))
    absent = workspace.org.api("second").get(f"/tag-sets/{uuid7()}/revisions")
    assert absent.status_code == 404
    assert _revisions(workspace, blind, by="second").data == absent.data
    path = f"/tag-sets/{blind['id']}/revisions"
    assert other_org.api("owner").get(path).data == absent.data
    assert _revisions(workspace, blind, by="labeler").status_code == 200
