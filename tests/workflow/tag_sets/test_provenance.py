"""Where each value of a merge came from, whatever becomes of it and of its sources."""

from collections import Counter
from typing import Any

import orjson
from hypothesis import given

from app.engines.agreement.tag_keys import build_field_specs
from app.workflow.tag_sets.service.provenance import build_entry, correct_entries
from tests.engines.agreement.labels import FIELD_SPECS
from tests.engines.agreement.test_properties import SETS
from tests.factories.errors import check_conflict
from tests.factories.properties import examples
from tests.factories.workspace import FIELDS, Workspace, rows, tag
from tests.workflow.actions import accept, get_data, get_tag_set, reject, reopen
from tests.workflow.tag_sets.merges import merge, submit_all

A, B = tag("number", "A"), tag("number", "B")


def _span(start: int, end: int) -> dict[str, Any]:
    return tag("clause", f"{start}-{end}", evidence=[{"start": start, "end": end}])


def _get_identity(one: dict[str, Any]) -> tuple[Any, ...]:
    return one["field"], one["row"], one["value"]


def test_what_all_have_is_in_the_merge_though_it_overlaps(workspace: Workspace) -> None:
    tags = [A, _span(0, 10), _span(3, 12)]
    sets = submit_all(workspace, tags, tags[::-1])
    merged = merge(workspace, sets, strategy="choose").json["data"]
    assert sorted(t["value"] for t in merged["tags"]) == ["0-10", "3-12", "A"]
    ids = [tag_set["id"] for tag_set in sets]
    assert [(o["tag_set_ids"], o["by"]) for o in merged["provenance"]] == [(ids, "agreement")] * 3


def test_a_correction_is_the_reviewers_and_the_rest_stays_whose_it_was(
    workspace: Workspace,
) -> None:
    tags = [A, *rows("rope", "sail", "mast"), _span(0, 10), _span(20, 30)]
    merged = merge(workspace, sets := submit_all(workspace, tags, tags)).json["data"]
    moved = [A, *rows("new", "rope", "sails", "mast"), _span(20, 30), _span(0, 4)]
    accepted = get_data(accept(workspace, merged, tags=moved, by="admin"))
    origins = {_get_identity(o): (o["by"], o["tag_set_ids"]) for o in accepted["provenance"]}
    labelers, reviewer = ("agreement", [tag_set["id"] for tag_set in sets]), ("reviewer", [])
    assert origins == {
        ("number", None, "A"): labelers,
        ("lines.item", 0, "new"): reviewer,
        ("lines.item", 1, "rope"): labelers,
        ("lines.item", 2, "sails"): reviewer,
        ("lines.item", 3, "mast"): labelers,
        ("clause", None, "20-30"): labelers,
        ("clause", None, "0-4"): reviewer,
    }
    # Nothing but tags changes it.
    reopened = get_data(reopen(workspace, merged, by="admin", to="review"))
    assert reopened["provenance"] == accepted["provenance"]
    accepted_again = get_data(accept(workspace, merged, tags=moved, by="admin"))
    assert accepted_again["provenance"] == accepted["provenance"]


def test_a_merge_corrected_before_corrections_were_traced_is_corrected_again(
    workspace: Workspace,
) -> None:
    tags = [A, tag("note", "x")]
    merged = merge(workspace, submit_all(workspace, tags, tags)).json["data"]
    workspace.sql(
        "UPDATE tag_sets SET tags = jsonb_set(tags, '{0,value}', '\"C\"'),"
        " provenance = (SELECT jsonb_agg(one - 'revisions') FROM jsonb_array_elements(provenance)"
        " one) WHERE id = :id",
        id=merged["id"],
    )
    assert [one["revisions"] for one in get_tag_set(workspace, merged)["provenance"]] == [None] * 2
    corrected = [tag("number", "C"), tag("note", "x"), tag("note", "y")]
    accepted = get_data(accept(workspace, merged, tags=corrected, by="admin"))
    origins = [(origin["value"], origin["by"]) for origin in accepted["provenance"]]
    assert origins == [("C", "reviewer"), ("x", "agreement"), ("y", "reviewer")]


def test_it_names_the_revision_that_said_so(workspace: Workspace) -> None:
    sets = submit_all(workspace, [A], [A])
    merged = merge(workspace, sets).json["data"]
    assert reject(workspace, sets[0], send_to="labeler", by="admin").status_code == 200
    draft = get_tag_set(workspace, sets[0])
    assert workspace.save(draft, [B]).status_code == 200
    (origin,) = get_tag_set(workspace, merged)["provenance"]
    for one, revision in zip(origin["tag_set_ids"], origin["revisions"], strict=True):
        said = {row.number: row.tags for row in workspace.revisions(one)}
        assert "A" in [t["value"] for t in said[revision]]


def test_a_second_merge_stands_for_what_the_first_stood_for(workspace: Workspace) -> None:
    sets = submit_all(workspace, [A], [A], [B])
    first = merge(workspace, sets[:2], accept=True).json["data"]
    assert reopen(workspace, first).status_code == 200
    assert reject(workspace, first, send_to="pool").status_code == 200
    second = merge(workspace, sets, accept=True).json["data"]
    assert [get_tag_set(workspace, one)["superseded_by"] for one in sets] == [second["id"]] * 3
    assert [r.kind for r in workspace.revisions(sets[0]["id"])][-2:] == ["supersede", "supersede"]
    assert get_tag_set(workspace, first)["superseded_by"] is None


def test_of_two_merges_one_waits(workspace: Workspace) -> None:
    sets = submit_all(workspace, [A], [A])
    first = merge(workspace, sets).json["data"]
    assert reject(workspace, first, send_to="pool").status_code == 200
    second = merge(workspace, sets).json["data"]
    check_conflict(reopen(workspace, first), tag_set_id=second["id"])
    assert reject(workspace, second, send_to="pool").status_code == 200
    assert reopen(workspace, first).status_code == 200


def test_what_a_merge_names_is_not_discarded(workspace: Workspace) -> None:
    sets = submit_all(workspace, [A], [A])
    merged = merge(workspace, sets).json["data"]
    assert reject(workspace, sets[0], send_to="labeler", by="admin").status_code == 200
    admin = workspace.org.api("admin")
    check_conflict(admin.delete(f"/tag-sets/{sets[0]['id']}"), merges=[merged["id"]])
    other = workspace.submitted()
    assert reject(workspace, other, send_to="labeler").status_code == 200
    assert admin.delete(f"/tag-sets/{other['id']}").status_code == 204


_TRACED = examples(200)


@_TRACED
@given(SETS, SETS)
def test_each_tag_has_its_entry_and_none_is_made_up(before: list[Any], after: list[Any]) -> None:
    entries = [build_entry(one, "agreement", [(str(n), n)]) for n, one in enumerate(before)]
    found = correct_entries(entries, before, after, FIELD_SPECS)
    assert [_get_identity(one) for one in found] == [_get_identity(one) for one in after]
    kept = [one for one in found if one["by"] != "reviewer"]
    assert max(Counter(str(one["revisions"]) for one in kept).values(), default=1) == 1
    for one in kept:
        (said,) = one["revisions"]
        assert orjson.dumps(before[said]["value"]) == orjson.dumps(one["value"])
    assert correct_entries(entries, before, before, FIELD_SPECS) == entries


def test_of_a_table_that_was_emptied_nothing_is_kept() -> None:
    held = [{**one, "confidence": None, "source": "human", "evidence": []} for one in rows("a")]
    traced = [build_entry(held[0], "choice", [("x", 3)])]
    assert correct_entries(traced, held, [], build_field_specs(FIELDS)) == []
    assert correct_entries([], [], held, build_field_specs(FIELDS)) == [
        build_entry(held[0], "reviewer")
    ]
