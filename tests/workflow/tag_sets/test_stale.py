"""Two tabs that save the same draft lose nothing."""

from typing import Any

from tests.factories.workspace import Workspace, rows, tag

Tags = list[dict[str, Any]]


def _build_input_tags(tags: Tags) -> Tags:
    members = ("field", "value", "row", "confidence", "source", "evidence")
    return [{name: one[name] for name in members} for one in tags]


def _merge_changes(mine: Tags, changes: Tags) -> Tags:
    """What a client makes of its own tags and those changes that another tab saved."""
    kept = list(mine)
    for change in changes:
        if change["from"] in kept:
            kept.remove(change["from"])
        if change["to"] is not None:
            kept.append(change["to"])
    return kept


def test_a_stale_save_is_told_what_to_merge_by(workspace: Workspace) -> None:
    base = workspace.save(workspace.draft(), [tag("number", "A-1"), tag("note", "both")]).json[
        "data"
    ]
    one = [*base["tags"], tag("pages", 3)]
    other = [base["tags"][1], tag("number", "A-2"), tag("note", "mine")]
    assert workspace.save(base, other).status_code == 200
    stale = workspace.save(base, one)
    assert stale.status_code == 409
    details = stale.json["error"]["details"]
    assert details["current_revision"] == 3
    assert details["truncated"] is False
    told = [(c["field"], c["kind"], c["members"]) for c in details["changes"]]
    assert told == [("number", "changed", ["value"]), ("note", "added", [])]
    again = {**base, "revision": details["current_revision"]}
    saved = workspace.save(again, _build_input_or_new_tags(_merge_changes(one, details["changes"])))
    assert saved.status_code == 200, saved.json
    values = {(t["field"], t["value"]) for t in saved.json["data"]["tags"]}
    assert values == {("number", "A-2"), ("note", "both"), ("note", "mine"), ("pages", 3)}
    kept = workspace.revisions(base["id"])
    assert [(r.number, r.kind) for r in kept] == [
        (1, "create"), (2, "save"), (3, "save"), (4, "save"),
    ]  # fmt: skip


def _build_input_or_new_tags(tags: Tags) -> Tags:
    return [_build_input_tags([one])[0] if "evidence" in one else one for one in tags]


def test_evidence_alone_is_a_change_too(workspace: Workspace) -> None:
    base = workspace.saved()
    moved = [tag("number", "A-1", evidence=[{"page": 2}])]
    workspace.save(base, moved)
    (change,) = workspace.save(base, []).json["error"]["details"]["changes"]
    assert change["members"] == ["evidence"]
    assert change["to"]["evidence"][0]["page"] == 2


def test_a_revision_that_never_was_has_no_changes(workspace: Workspace) -> None:
    draft = workspace.saved()
    for number in (0, 3, 2**31 - 1):
        details = workspace.save({**draft, "revision": number}, []).json["error"]["details"]
        assert details == {"current_revision": 2, "changes": None, "truncated": False}


def test_long_differences_are_cut(workspace: Workspace) -> None:
    base = workspace.draft()
    workspace.save(base, [tag("note", f"n{n}") for n in range(600)])
    details = workspace.save(base, []).json["error"]["details"]
    assert (len(details["changes"]), details["truncated"]) == (500, True)
    large = workspace.draft()
    text = {"text": "y" * 20_000}
    workspace.save(large, [tag("note", f"n{n}", evidence=[text] * 10) for n in range(10)])
    refused = workspace.save(large, [])
    details = refused.json["error"]["details"]
    assert 0 < len(details["changes"]) < 10
    assert details["truncated"] is True
    assert len(refused.data) < 1.5 * 1024 * 1024


def test_whoever_may_not_write_is_told_nothing(workspace: Workspace) -> None:
    draft = workspace.saved()
    workspace.org.add_user("second", "labeler")
    for name, status in (("second", 404), ("reviewer", 403)):
        refused = workspace.save({**draft, "revision": 1}, [], by=name)
        assert refused.status_code == status
        assert "details" not in refused.json["error"]


def test_rows_that_another_tab_moved_are_told_by_their_numbers(workspace: Workspace) -> None:
    base = workspace.save(workspace.draft(), rows("rope", "sail")).json["data"]
    theirs = workspace.save(base, rows("new", "rope", "sail")).json["data"]
    mine = [*base["tags"], tag("pages", 3)]
    details = workspace.save(base, mine).json["error"]["details"]
    merged = _merge_changes(_build_input_or_new_tags(mine), details["changes"])
    assert {(one["field"], one.get("row"), one["value"]) for one in merged} == {
        ("pages", None, 3),
        *(("lines.item", one["row"], one["value"]) for one in theirs["tags"]),
    }
