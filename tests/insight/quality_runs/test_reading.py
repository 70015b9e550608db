"""Agreement, disagreements and confusion matrices, as far as each role may see them."""

from typing import Any
from uuid import UUID

import pytest

from tests.factories.errors import check_error
from tests.factories.labels import make_field
from tests.factories.orgs import get_data
from tests.factories.pages import read_pages
from tests.factories.teams import add_members, make_team
from tests.insight.quality_runs.conftest import Answers, tag

ROWS = ("aab", "bbb", "cba", "aa.")
CODES = [f"{a}{b}" for a in "ABCDEFGHIJ" for b in "ABCDEFGHIJKL"]
"""120 values of a field of the type `country`."""


def test_agreement_comes_from_the_newest_run_that_covers_the_query(answers: Answers) -> None:
    schema_id = answers.create_labeled_schema(*ROWS)
    whole = answers.compute(schema_id)
    part = answers.compute(
        schema_id, fields=["kind"], metrics=["percent"], **{"from": "2026-01-01T00:00:00Z"}
    )
    # The narrow run does not hide results that only the full run has.
    assert answers.read("agreement", schema_id=schema_id)["run_id"] == whole["id"]
    for narrow in ({"field": "kind"}, {"metric": "percent"}, {"from": "2026-01-02T00:00:00Z"}):
        agreement = answers.read("agreement", schema_id=schema_id, **narrow)
        assert agreement["run_id"] == whole["id"], narrow
    narrow = {"field": "kind", "metric": "percent", "from": "2026-01-01T00:00:00Z"}
    kind = answers.read("agreement", schema_id=schema_id, **narrow)
    assert kind["run_id"] == part["id"]
    assert kind["computed_at"] == part["finished_at"]
    assert kind["from"] == "2026-01-01T00:00:00Z"
    assert kind["results"] == part["results"]
    total = answers.read("agreement", schema_id=schema_id, field="total")
    assert total["run_id"] == whole["id"]
    assert {entry["field"] for entry in total["results"]} == {"total"}
    query = {"schema_id": schema_id, "field": "kind", "metric": "cohen_kappa"}
    kappa = answers.read("agreement", **query)
    assert kappa["run_id"] == whole["id"]
    assert {entry["metric"] for entry in (*kappa["results"], *kappa["pairs"])} == {"cohen_kappa"}
    ended = answers.compute(schema_id, to="2026-01-01T00:00:00Z")
    assert answers.read("agreement", schema_id=schema_id)["run_id"] == whole["id"] != ended["id"]
    again = answers.compute(schema_id)
    assert answers.read("agreement", schema_id=schema_id)["run_id"] == again["id"]
    earlier = answers.read("agreement", schema_id=schema_id, **{"from": "2025-01-01T00:00:00Z"})
    assert earlier["run_id"] == again["id"]
    until_later = answers.read("agreement", schema_id=schema_id, to="2100-01-01T00:00:00Z")
    assert until_later["run_id"] == again["id"]
    until_then = answers.read("agreement", schema_id=schema_id, to="2025-12-31T00:00:00Z")
    assert until_then["run_id"] in {ended["id"], again["id"]}


def test_without_a_run_there_is_no_agreement(answers: Answers) -> None:
    schema_id = str(answers.create_schema())
    answers.start(UUID(schema_id))
    nothing = {"run_id": None, "computed_at": None, "from": None, "to": None}
    empty: dict[str, Any] = {"results": [], "pairs": [], "warnings": []}
    expected = {"schema_id": schema_id, **nothing, **empty}
    assert answers.read("agreement", schema_id=schema_id) == expected
    confusion = answers.read("confusion", schema_id=schema_id, field="kind")
    assert confusion["computed_at"] is None
    assert (confusion["values"], confusion["counts"], confusion["units"]) == ([], [], 0)


def test_pairs_are_shown_as_far_as_the_role_allows(answers: Answers) -> None:
    schema_id = answers.create_labeled_schema(*ROWS)
    run = answers.compute(schema_id, fields=["kind"], metrics=["percent"])
    assert len(run["pairs"]) == 3
    assert all(pair["a"]["name"] and pair["b"]["name"] for pair in run["pairs"])
    own = str(answers.org.users["labeler"])
    for path in (f"runs/{run['id']}", "agreement"):
        query = {"schema_id": schema_id} if path == "agreement" else {}
        seen = answers.read(path, by="labeler", **query)
        assert seen["results"] == run["results"]
        assert [(pair["a"]["id"], pair["b"]) for pair in seen["pairs"]] == [(own, None)] * 2
        assert answers.read(path, by="viewer", **query)["pairs"] == []


def test_reviewers_in_a_team_see_the_pairs_of_its_members(answers: Answers) -> None:
    schema_id, org = answers.create_labeled_schema(*ROWS), answers.org
    run = answers.compute(schema_id, fields=["kind"], metrics=["percent"])
    team = make_team(org)
    add_members(org, team, "reviewer")
    own, labeler = (str(org.users[name]) for name in ("reviewer", "labeler"))

    def read(api: Any) -> list[tuple[str, str | None]]:
        pairs = api.get(f"/quality/runs/{run['id']}").json["data"]["pairs"]
        return [(pair["a"]["id"], pair["b"] and pair["b"]["id"]) for pair in pairs]

    assert read(org.api("reviewer")) == [(own, None)] * 2
    add_members(org, team, "labeler")
    seen = read(org.api("reviewer"))
    assert sorted(b or "" for _, b in seen)[:2] == ["", ""]
    assert {frozenset(pair) for pair in seen} == {
        frozenset((own, labeler)),
        frozenset((own, None)),
        frozenset((labeler, None)),
    }
    assert all(b is not None for _, b in read(org.api("admin")))
    assert read(org.key("labeler", maker="admin")) == []
    assert len(read(org.key("reviewer", maker="admin"))) == 3


def test_disagreements_are_listed_largest_first(answers: Answers) -> None:
    schema_id = answers.create_schema()
    split, agreed, torn, _ = answers.add_choices(schema_id, *ROWS)
    answers.compute(schema_id)
    listed = answers.read("disagreements", schema_id=schema_id)
    assert [entry["artifact"]["id"] for entry in listed] == [str(torn), str(split)]
    assert [entry["disagreement"] for entry in listed] == pytest.approx([1, 2 / 3], abs=1e-6)
    assert listed[1]["answers"] == [{"value": "a", "count": 2}, {"value": "b", "count": 1}]
    assert (listed[1]["raters"], listed[1]["field"]) == (3, "kind")
    assert listed[1]["created_at"] == listed[1]["updated_at"] == listed[1]["compared_at"]
    assert str(agreed) not in str(listed)
    pages = read_pages(answers.api, f"/quality/disagreements?schema_id={schema_id}&page_size=1")
    assert {page["meta"]["total"] for page in pages} == {2}
    assert [page["data"] for page in pages] == [[entry] for entry in listed]
    assert answers.read("disagreements", schema_id=schema_id, field="total") == []


@pytest.mark.parametrize(
    ("first", "second", "is_equal_in_runs", "is_equal_elsewhere"),
    [
        ("ACME GmbH", "Acme  GmbH", True, False),
        ("\ufb01ne", "fine", True, False),
        ("caf\u00e9", "cafe\u0301", True, True),
        ("ACME GmbH", "ACME AG", False, False),
    ],
    ids=["case and spaces", "compatibility", "accents", "another text"],
)
def test_text_is_compared_as_the_documentation_says(
    answers: Answers, first: str, second: str, *, is_equal_in_runs: bool, is_equal_elsewhere: bool
) -> None:
    """Runs and disagreements have two definitions of equal text: decision 0067."""
    schema_id = answers.create_schema(fields=[make_field("name", "text")])
    tags = {"labeler": [tag("name", first)], "admin": [tag("name", second)]}
    answers.add_answered_document(schema_id, tags)
    run = answers.compute(schema_id, metrics=["percent"])
    (result,) = run["results"]
    assert result["value"] == float(is_equal_in_runs)
    listed = answers.read("disagreements", schema_id=schema_id)
    assert [len(entry["answers"]) for entry in listed] == ([] if is_equal_elsewhere else [2])


def test_disagreements_follow_the_tag_sets(answers: Answers) -> None:
    schema_id = answers.create_schema(labels_per_artifact=2)
    workspace = answers.workspace
    artifact_id = workspace.artifact(schema_id)
    for by, choice in (("labeler", "a"), ("admin", "b")):
        draft = workspace.draft(artifact_id, by=by)
        get_data(workspace.save(draft, [{"field": "kind", "value": choice}], by=by))
        if by == "admin":
            answers.work()
            assert answers.read("disagreements") == [], "a draft is no answer"
        get_data(answers.org.api(by).post(f"/tag-sets/{draft['id']}/submit"))
    answers.work()
    (entry,) = answers.read("disagreements")
    assert entry["answers"] == [{"value": "a", "count": 1}, {"value": "b", "count": 1}]
    workspace.act(draft, "reject", reason="Wrong", send_to="labeler")
    answers.work()
    assert answers.read("disagreements") == []


def test_a_comparison_keeps_unchanged_disagreements_in_their_place(answers: Answers) -> None:
    schema_id = answers.create_labeled_schema("ab", "ab", "ab", "ab")
    answers.compute(schema_id)
    listed = answers.read("disagreements")
    page = answers.api.get("/quality/disagreements?page_size=2").json
    assert page["data"] == listed[:2]
    changed_id, changed_artifact_id = listed[3]["id"], UUID(listed[3]["artifact"]["id"])
    answers.add_answer(changed_artifact_id, schema_id, "admin", tag("kind", "c"))
    answers.compute(schema_id)
    rest = answers.read("disagreements", cursor=page["meta"]["next_cursor"], page_size=2)
    assert rest == [listed[2]]
    (changed,) = (entry for entry in answers.read("disagreements") if entry["raters"] == 3)
    assert changed["id"] != changed_id
    assert changed["compared_at"] > listed[3]["compared_at"]
    assert answers.api.get("/quality/disagreements").json["meta"]["total"] == 4


def test_a_deleted_document_disappears_immediately(answers: Answers) -> None:
    schema_id = answers.create_schema()
    (artifact_id,) = answers.add_choices(schema_id, "ab")
    answers.compute(schema_id)
    assert len(answers.read("disagreements")) == 1
    answers.workspace.sql("DELETE FROM artifacts WHERE id = :id", id=artifact_id)
    answer = answers.api.get("/quality/disagreements")
    assert answer.json["data"] == []
    assert answer.json["meta"]["total"] == 0


def test_a_gold_answer_is_not_shown_as_such(answers: Answers) -> None:
    schema_id = answers.create_schema()
    artifact_id = answers.workspace.artifact(schema_id, gold=True)
    answers.add_answer(artifact_id, schema_id, "admin", tag("kind", "a"), status="accepted")
    answers.add_answer(artifact_id, schema_id, "labeler", tag("kind", "b"))
    answers.compute(schema_id)
    (entry,) = answers.read("disagreements")
    assert {"value", "count"} == set(entry["answers"][0])
    assert "accepted" not in str(entry)
    against = answers.read("confusion", schema_id=schema_id, field="kind", against="accepted")
    assert against["units"] == 0


def test_the_confusion_of_labelers_is_symmetric(answers: Answers) -> None:
    schema_id = answers.create_labeled_schema(*ROWS)
    answers.add_answered_document(schema_id, {"labeler": [tag("kind", "a")], "admin": []})
    run = answers.compute(schema_id)
    confusion = answers.read("confusion", schema_id=schema_id, field="kind")
    # Pairs: aa ab ab, bb bb bb, cb ca ba, aa, a-.
    assert confusion["run_id"] == run["id"]
    assert confusion["values"] == ["b", "a", "c", None]
    assert confusion["counts"] == [[3, 3, 1, 0], [3, 2, 1, 1], [1, 1, 0, 0], [0, 1, 0, 0]]
    assert (confusion["units"], confusion["other_values"]) == (11, 0)
    query = {"schema_id": schema_id, "field": "kind", "limit": 1}
    reduced = answers.read("confusion", **query)
    assert reduced["values"] == ["b"]
    assert reduced["other_values"] == 3
    # The last row and column are sums of those of the other values: 2 + 2 * (1 + 1) in the corner.
    assert reduced["counts"] == [[3, 4], [4, 6]]
    assert reduced["units"] == 11


def test_the_confusion_against_accepted_values(answers: Answers) -> None:
    schema_id = answers.create_schema()
    for choice in "aab":
        artifact_id = answers.workspace.artifact(schema_id)
        final, own = tag("kind", "a"), tag("kind", choice)
        answers.add_corrected_answer(artifact_id, schema_id, "labeler", final, own)
    answers.compute(schema_id)
    query = {"schema_id": schema_id, "field": "kind", "against": "accepted"}
    confusion = answers.read("confusion", **query)
    assert confusion["values"] == ["a", "b"]
    assert confusion["counts"] == [[2, 0], [1, 0]]


def test_ten_thousand_values_are_combined(answers: Answers) -> None:
    schema_id = answers.create_schema(fields=[make_field("kind", "country")])
    for code in (*CODES, CODES[0]):
        tags = [tag("kind", code)]
        answers.add_answered_document(schema_id, {"labeler": tags, "admin": tags})
    answers.compute(schema_id, metrics=["percent"])
    confusion = answers.read("confusion", schema_id=schema_id, field="kind")
    assert len(confusion["values"]) == 50
    assert confusion["values"][0] == CODES[0]
    assert confusion["counts"][0][0] == 2
    assert confusion["other_values"] == 70
    assert confusion["counts"][50][50] == 70
    assert sum(map(sum, confusion["counts"])) == confusion["units"] == 121


def test_pairs_of_rare_values_are_counted_twice_as_well(answers: Answers) -> None:
    schema_id = answers.create_schema(fields=[make_field("kind", "country")])
    # The labelers agree on each of the first hundred values, and never on the other twenty.
    pairs = [(code, code) for code in CODES[:100]]
    pairs += zip(CODES[100::2], CODES[101::2], strict=True)
    for first, second in pairs:
        tags = {"labeler": [tag("kind", first)], "admin": [tag("kind", second)]}
        answers.add_answered_document(schema_id, tags)
    answers.compute(schema_id, metrics=["percent"])
    query = {"schema_id": schema_id, "field": "kind", "limit": 100}
    confusion = answers.read("confusion", **query)
    assert confusion["other_values"] == 20
    assert confusion["counts"][100][100] == 20
    assert sum(map(sum, confusion["counts"])) == 120
    assert confusion["units"] == 110


@pytest.mark.parametrize("kind", ["png", "svg+xml"])
def test_a_confusion_matrix_is_rendered(answers: Answers, kind: str) -> None:
    schema_id = answers.create_schema()
    query = {"schema_id": str(schema_id), "field": "kind"}
    for rows in ((), ROWS):
        answers.add_choices(schema_id, *rows)
        answers.compute(schema_id)
        answer = answers.api.get(
            "/quality/confusion", query_string=query, headers={"Accept": f"image/{kind}"}
        )
        assert answer.status_code == 200
        assert answer.content_type.startswith(f"image/{kind}")
        assert answer.data.startswith(b"\x89PNG" if kind == "png" else b"<?xml")


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("agreement", {"field": "nothing"}, "field"),
        ("agreement", {"from": "2099-01-01T00:00:00Z"}, "from"),
        ("agreement", {"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}, "to"),
        ("confusion", {"field": "nothing"}, "field"),
        ("confusion", {"field": "total"}, "field"),
        ("confusion", {"field": "note"}, "field"),
        ("agreement", {"schema_id": "00000000-0000-7000-8000-000000000000"}, "schema_id"),
        ("disagreements", {"schema_id": "00000000-0000-7000-8000-000000000000"}, "schema_id"),
    ],
)
def test_bad_queries(answers: Answers, path: str, query: dict[str, str], field: str) -> None:
    query = {"schema_id": str(answers.create_schema()), **query}
    answer = answers.api.get(f"/quality/{path}", query_string=query)
    check_error(answer, 400, "validation_error", field=field)


def test_a_field_needs_its_schema(answers: Answers) -> None:
    answer = answers.api.get("/quality/disagreements", query_string={"field": "kind"})
    check_error(answer, 400, "validation_error", field="schema_id")


def test_nothing_of_another_organization_is_visible(
    answers: Answers, other_answers: Answers
) -> None:
    schema_id = other_answers.create_labeled_schema("ab")
    run = other_answers.compute(schema_id)
    assert answers.api.get(f"/quality/runs/{run['id']}").status_code == 404
    assert answers.read("runs") == answers.read("disagreements") == []
    for path in ("agreement", "confusion"):
        query = {"schema_id": str(schema_id), "field": "kind"}
        answer = answers.api.get(f"/quality/{path}", query_string=query)
        assert answer.status_code == 400
