"""Where each value of a merge came from, whatever becomes of it and of its sources."""

from collections import Counter
from typing import Any

import orjson
from hypothesis import given

from app.engines.agreement.tag_keys import build_shapes
from app.workflow.tag_sets.service.provenance import build_entry, correct_entries
from tests.engines.agreement.labels import SHAPES
from tests.engines.agreement.test_properties import SETS
from tests.factories.properties import examples
from tests.factories.workspace import FIELDS, Workspace, rows, tag
from tests.workflow.tag_sets.test_merging import _merge, _sets, _status

A, B = tag("number", "A"), tag("number", "B")


def _span(start: int, end: int) -> dict[str, Any]:
    return tag("clause", f"{start}-{end}", evidence=[{"start": start, "end": end}])


def _get_identity(one: dict[str, Any]) -> tuple[Any, ...]:
    return one["field"], one["row"], one["value"]


def _accept(workspace: Workspace, made: dict[str, Any], tags: list[Any]) -> dict[str, Any]:
    path = f"/tag-sets/{made['id']}/accept"
    answer = workspace.org.api("admin").post(path, json={"tags": tags})
    assert answer.status_code == 200, answer.json
    return dict(answer.json["data"])


def _reject(workspace: Workspace, made: dict[str, Any], send_to: str) -> None:
    body = {"reason": "No.", "send_to": send_to}
    answer = workspace.org.api("admin").post(f"/tag-sets/{made['id']}/reject", json=body)
    assert answer.status_code == 200, answer.json


def _reopen(workspace: Workspace, made: dict[str, Any], to: str = "review") -> Any:
    body = {"reason": "Again.", "to": to}
    return workspace.org.api("admin").post(f"/tag-sets/{made['id']}/reopen", json=body)


def test_what_all_have_is_in_the_merge_though_it_overlaps(workspace: Workspace) -> None:
    tags = [A, _span(0, 10), _span(3, 12)]
    sets = _sets(workspace, tags, tags[::-1])
    made = _merge(workspace, sets, strategy="choose").json["data"]
    assert sorted(t["value"] for t in made["tags"]) == ["0-10", "3-12", "A"]
    ids = [one["id"] for one in sets]
    assert [(o["tag_set_ids"], o["by"]) for o in made["provenance"]] == [(ids, "agreement")] * 3


def test_a_correction_is_the_reviewers_and_the_rest_stays_whose_it_was(
    workspace: Workspace,
) -> None:
    tags = [A, *rows("rope", "sail", "mast"), _span(0, 10), _span(20, 30)]
    made = _merge(workspace, sets := _sets(workspace, tags, tags)).json["data"]
    moved = [A, *rows("new", "rope", "sails", "mast"), _span(20, 30), _span(0, 4)]
    accepted = _accept(workspace, made, moved)
    told = {_get_identity(o): (o["by"], o["tag_set_ids"]) for o in accepted["provenance"]}
    theirs, mine = ("agreement", [one["id"] for one in sets]), ("reviewer", [])
    assert told == {
        ("number", None, "A"): theirs,
        ("lines.item", 0, "new"): mine,
        ("lines.item", 1, "rope"): theirs,
        ("lines.item", 2, "sails"): mine,
        ("lines.item", 3, "mast"): theirs,
        ("clause", None, "20-30"): theirs,
        ("clause", None, "0-4"): mine,
    }
    # Nothing but tags changes it.
    assert _reopen(workspace, made).json["data"]["provenance"] == accepted["provenance"]
    assert _accept(workspace, made, moved)["provenance"] == accepted["provenance"]


def test_a_merge_corrected_before_corrections_were_traced_is_corrected_again(
    workspace: Workspace,
) -> None:
    made = _merge(workspace, _sets(workspace, [A, tag("note", "x")], [A, tag("note", "x")])).json[
        "data"
    ]
    workspace.sql(
        "UPDATE tag_sets SET tags = jsonb_set(tags, '{0,value}', '\"C\"'),"
        " provenance = (SELECT jsonb_agg(one - 'revisions') FROM jsonb_array_elements(provenance)"
        " one) WHERE id = :id",
        id=made["id"],
    )
    assert [one["revisions"] for one in _status(workspace, made)["provenance"]] == [None, None]
    found = _accept(workspace, made, [tag("number", "C"), tag("note", "x"), tag("note", "y")])
    told = [(o["value"], o["by"]) for o in found["provenance"]]
    assert told == [("C", "reviewer"), ("x", "agreement"), ("y", "reviewer")]


def test_it_names_the_revision_that_said_so(workspace: Workspace) -> None:
    sets = _sets(workspace, [A], [A])
    made = _merge(workspace, sets).json["data"]
    _reject(workspace, sets[0], "labeler")
    draft = _status(workspace, sets[0])
    assert workspace.save(draft, [B]).status_code == 200
    (origin,) = _status(workspace, made)["provenance"]
    for one, revision in zip(origin["tag_set_ids"], origin["revisions"], strict=True):
        said = {row.number: row.tags for row in workspace.revisions(one)}
        assert "A" in [t["value"] for t in said[revision]]


def test_a_second_merge_stands_for_what_the_first_stood_for(workspace: Workspace) -> None:
    sets = _sets(workspace, [A], [A], [B])
    first = _merge(workspace, sets[:2], accept=True).json["data"]
    assert _reopen(workspace, first).status_code == 200
    _reject(workspace, first, "pool")
    second = _merge(workspace, sets, accept=True).json["data"]
    assert [_status(workspace, one)["superseded_by"] for one in sets] == [second["id"]] * 3
    assert [r.kind for r in workspace.revisions(sets[0]["id"])][-2:] == ["supersede", "supersede"]
    assert _status(workspace, first)["superseded_by"] is None


def test_of_two_merges_one_waits(workspace: Workspace) -> None:
    sets = _sets(workspace, [A], [A])
    first = _merge(workspace, sets).json["data"]
    _reject(workspace, first, "pool")
    second = _merge(workspace, sets).json["data"]
    refused = _reopen(workspace, first)
    assert refused.status_code == 409
    assert refused.json["error"]["details"] == {"tag_set_id": second["id"]}
    _reject(workspace, second, "pool")
    assert _reopen(workspace, first).status_code == 200


def test_what_a_merge_names_is_not_discarded(workspace: Workspace) -> None:
    sets = _sets(workspace, [A], [A])
    made = _merge(workspace, sets).json["data"]
    _reject(workspace, sets[0], "labeler")
    admin = workspace.org.api("admin")
    refused = admin.delete(f"/tag-sets/{sets[0]['id']}")
    assert refused.status_code == 409
    assert refused.json["error"]["details"] == {"merges": [made["id"]]}
    other = workspace.submitted()
    _reject(workspace, other, "labeler")
    assert admin.delete(f"/tag-sets/{other['id']}").status_code == 204


_TRACED = examples(200)


@_TRACED
@given(SETS, SETS)
def test_each_tag_has_its_entry_and_none_is_made_up(before: list[Any], after: list[Any]) -> None:
    entries = [build_entry(one, "agreement", [(str(n), n)]) for n, one in enumerate(before)]
    found = correct_entries(entries, before, after, SHAPES)
    assert [_get_identity(one) for one in found] == [_get_identity(one) for one in after]
    kept = [one for one in found if one["by"] != "reviewer"]
    assert max(Counter(str(one["revisions"]) for one in kept).values(), default=1) == 1
    for one in kept:
        (said,) = one["revisions"]
        assert orjson.dumps(before[said]["value"]) == orjson.dumps(one["value"])
    assert correct_entries(entries, before, before, SHAPES) == entries


def test_of_a_table_that_was_emptied_nothing_is_kept() -> None:
    held = [{**one, "confidence": None, "source": "human", "evidence": []} for one in rows("a")]
    traced = [build_entry(held[0], "choice", [("x", 3)])]
    assert correct_entries(traced, held, [], build_shapes(FIELDS)) == []
    assert correct_entries([], [], held, build_shapes(FIELDS)) == [build_entry(held[0], "reviewer")]
