"""Runs: what they compare, what they leave out, and what they return."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import krippendorff
import numpy as np
import pytest

from app.insight.quality_runs.service import computing
from app.kit import db
from tests.factories.errors import check_error
from tests.factories.labels import make_field
from tests.insight.quality_runs.conftest import LABELERS, Answers, get_result, tag
from tests.references import import_lazily

cohen_kappa_score = import_lazily("sklearn.metrics", "cohen_kappa_score")

ROWS = ("aaa", "aab", "bbb", "bcb", "cc.", "aa.", "abb", "ccc")


def test_a_run_equals_the_reference_implementations(answers: Answers) -> None:
    schema_id = answers.create_labeled_schema(*ROWS)
    run = answers.compute(schema_id, fields=["kind"])
    alpha = get_result(run, "kind", "krippendorff_alpha")
    data = [[("abc.".index(row[r])) for row in ROWS] for r in range(3)]
    reliability = np.where(np.array(data) == 3, np.nan, np.array(data, dtype=float))
    expected = krippendorff.alpha(reliability, level_of_measurement="nominal")
    assert alpha["value"] == pytest.approx(expected, abs=1e-9)
    assert alpha["ci_low"] <= alpha["value"] <= alpha["ci_high"]
    assert (alpha["units"], alpha["raters"]) == (8, 3)
    people = {str(answers.org.users[name]): n for n, name in enumerate(("labeler", "reviewer"))}
    (pair,) = [
        pair
        for pair in run["pairs"]
        if pair["metric"] == "cohen_kappa" and {pair["a"]["id"], pair["b"]["id"]} == set(people)
    ]
    kappa = cohen_kappa_score([row[0] for row in ROWS], [row[1] for row in ROWS])
    assert pair["value"] == pytest.approx(kappa, abs=1e-9)
    assert pair["units"] == 8
    assert run["progress"]["done"] == run["progress"]["total"] == 22
    assert run["from"] is None
    assert run["error"] is None


def test_only_independent_answers_count(answers: Answers) -> None:
    schema_id = answers.create_schema()
    for choice in "abc":
        artifact_id = answers.workspace.artifact(schema_id)
        wrong = tag("kind", "a" if choice == "b" else "b")
        answers.add_answer(artifact_id, schema_id, "labeler", tag("kind", choice))
        # A reviewer corrected this answer; the answer that the labeler submitted counts.
        own = tag("kind", choice)
        answers.add_corrected_answer(artifact_id, schema_id, "admin", wrong, own)
        answers.add_answer(artifact_id, schema_id, "owner", wrong, status="draft")
        answers.add_answer(artifact_id, schema_id, None, wrong, source="model")
        answers.add_answer(
            artifact_id, schema_id, "reviewer", wrong, source="merge", status="accepted"
        )
    run = answers.compute(schema_id, fields=["kind"])
    percent = get_result(run, "kind", "percent")
    assert (percent["value"], percent["units"], percent["raters"]) == (1, 3, 2)


def test_the_newest_answer_of_a_labeler_counts(answers: Answers) -> None:
    schema_id = answers.create_schema()
    artifact_id = answers.workspace.artifact(schema_id)
    earlier = db.utc_now() - timedelta(hours=1)
    answers.add_answer(artifact_id, schema_id, "labeler", tag("kind", "b"), submitted_at=earlier)
    answers.add_answer(artifact_id, schema_id, "labeler", tag("kind", "a"))
    answers.add_answer(artifact_id, schema_id, "admin", tag("kind", "a"))
    run = answers.compute(schema_id, fields=["kind"], metrics=["percent"])
    assert [entry["value"] for entry in run["results"]] == [1]


def test_values_are_compared_by_meaning(answers: Answers) -> None:
    schema_id = answers.create_schema()
    artifact_id = answers.workspace.artifact(schema_id)
    for by, amount in (("labeler", "1.5"), ("admin", "1.50")):
        money = {"amount": amount, "currency": "EUR"}
        answers.add_answer(artifact_id, schema_id, by, tag("total", money), tag("pages", 3))
    run = answers.compute(schema_id, fields=["total", "pages"], metrics=["percent"])
    assert [entry["value"] for entry in run["results"]] == [1, 1]


def test_distances_count_for_numbers(answers: Answers) -> None:
    schema_id = answers.create_schema()
    pages = [(1, 1), (2, 3), (10, 10), (40, 41), (90, 90)]
    for a, b in pages:
        tags = {"labeler": [tag("pages", a)], "admin": [tag("pages", b)]}
        answers.add_answered_document(schema_id, tags)
    run = answers.compute(schema_id, fields=["pages"])
    expected = krippendorff.alpha(np.array(pages, float).T, level_of_measurement="interval")
    alpha = get_result(run, "pages", "krippendorff_alpha")
    assert alpha["value"] == pytest.approx(expected, abs=1e-9)
    assert get_result(run, "pages", "percent")["value"] == pytest.approx(0.6)


def test_spans_regions_and_several_values_have_f1(answers: Answers) -> None:
    schema_id = answers.create_schema()
    shared = (
        tag("note", "x"),
        tag("clause", "one", start=0, end=10),
        tag("place", "", box=[0.0, 0.0, 0.5, 0.5]),
        tag("lines.item", "Rope", row=0),
    )
    more = (
        tag("note", "y"),
        tag("clause", "two", start=20, end=30),
        tag("place", "", box=[0.6, 0.6, 1.0, 1.0]),
        tag("lines.item", "Nail", row=1),
    )
    answers.add_answered_document(schema_id, {"labeler": shared, "admin": (*shared, *more)})
    names = ["note", "clause", "place", "lines.item"]
    run = answers.compute(schema_id, fields=names)
    for name in names:
        assert get_result(run, name, "f1")["value"] == pytest.approx(2 / 3), name
    assert "kind" not in {entry["field"] for entry in run["results"]}


def test_the_period_includes_its_start_and_excludes_its_end(answers: Answers) -> None:
    schema_id = answers.create_schema()
    day = datetime(2026, 3, 1, tzinfo=UTC)
    for offset in (-1, 0, 1, 2):
        answers.add_choices(schema_id, "aa", submitted_at=day + timedelta(days=offset))
    period = {"from": "2026-03-01T00:00:00Z", "to": "2026-03-03T00:00:00Z"}
    run = answers.compute(schema_id, fields=["kind"], metrics=["percent"], **period)
    assert run["results"][0]["units"] == 2


def test_a_field_compares_only_within_versions_that_agree(answers: Answers) -> None:
    schema_id = answers.create_labeled_schema("ab", "ab")
    changed = [make_field("kind", "text"), make_field("pages", "integer")]
    version_id = answers.add_version(schema_id, changed)
    artifact_id = answers.workspace.artifact(schema_id)
    for by in ("labeler", "admin"):
        answers.add_answer(artifact_id, schema_id, by, tag("kind", "free"), version_id=version_id)
    run = answers.compute(schema_id, fields=["kind"], metrics=["percent"])
    assert [(entry["value"], entry["units"]) for entry in run["results"]] == [(1, 1)]
    (warning,) = [w for w in run["warnings"] if w["code"] == "field_type_changed"]
    assert warning["field"] == "kind"
    assert "version 1" in warning["message"]
    assert "4 tag sets" in warning["message"]


@pytest.mark.parametrize(("rows", "code"), [((), "no_ratings"), (("a..", "b.."), "one_rater")])
def test_too_few_labelers_are_a_warning(answers: Answers, rows: tuple[str, ...], code: str) -> None:
    schema_id = answers.create_labeled_schema(*rows)
    run = answers.compute(schema_id, fields=["kind"])
    assert {entry["value"] for entry in run["results"]} == {None}
    assert run["pairs"] == []
    assert code in {warning["code"] for warning in run["warnings"]}


def test_a_hundred_labelers_of_one_document(answers: Answers) -> None:
    schema_id = answers.create_schema()
    artifact_id = answers.workspace.artifact(schema_id)
    for number, user_id in enumerate(_add_users(answers, 100)):
        answers.add_answer(artifact_id, schema_id, user_id, tag("kind", "ab"[number % 2]))
    run = answers.compute(schema_id, fields=["kind"], metrics=["percent", "krippendorff_alpha"])
    assert get_result(run, "kind", "percent")["raters"] == 100
    assert get_result(run, "kind", "percent")["value"] == pytest.approx(2 * 1225 / 4950)
    assert len(run["pairs"]) == 4950
    (disagreement,) = answers.read("disagreements")
    assert disagreement["raters"] == 100
    assert disagreement["answers"] == [{"value": "a", "count": 50}, {"value": "b", "count": 50}]


def _add_users(answers: Answers, count: int) -> list[UUID]:
    rows = answers.workspace.sql(
        """
        INSERT INTO users (id, email, name, locale, time_zone, token_version, created_at,
            updated_at, revision)
        SELECT gen_random_uuid(), gen_random_uuid() || '@example.org', 'Labeler', 'en', 'UTC', 1,
            now(), now(), 1
        FROM generate_series(1, :count) RETURNING id
        """,
        count=count,
    )
    return [UUID(str(row.id)) for row in rows]


def test_a_pass_reads_few_fields(answers: Answers) -> None:
    names = [f"text_{number}" for number in range(6)]
    numbers = ["pages", "sheets"]
    fields = [make_field(name, "text") for name in names]
    fields += [make_field(name, "integer") for name in numbers]
    schema_id = answers.create_schema(fields=fields)
    for agreed in (True, False):
        artifact_id = answers.workspace.artifact(schema_id)
        for by, value in (("labeler", 1), ("admin", 1 if agreed else 2)):
            tags = [tag(name, str(value)) for name in names]
            tags += [tag(name, value) for name in numbers]
            answers.add_answer(artifact_id, schema_id, by, *tags)
    run = answers.compute(schema_id, metrics=["percent", "krippendorff_alpha"])
    # Pass 1: four text fields. Pass 2: two text fields, and a number with distances. Pass 3: the
    # other number.
    assert run["progress"]["total"] == 3 * 4
    shown = [(entry["field"], entry["value"]) for entry in run["results"][::2]]
    assert shown == [(name, 0.5) for name in (*names, *numbers)]
    assert {entry["units"] for entry in run["results"]} == {2}


def test_no_pair_is_computed_beyond_the_limit(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = [make_field(name, "text") for name in ("one", "two")]
    schema_id = answers.create_schema(fields=[*fields, make_field("note", "text", multiple=True)])
    tags = [tag(name, "a") for name in ("one", "two", "note")]
    answers.add_answered_document(schema_id, dict.fromkeys(LABELERS, tags))
    monkeypatch.setattr(computing, "MAX_PAIRS", 5)
    computed = []
    measure_pairs = computing.measure_pairs

    def measure(*args: Any, **options: Any) -> Any:
        computed.append(args[1])
        return measure_pairs(*args, **options)

    monkeypatch.setattr(computing, "measure_pairs", measure)
    run = answers.compute(schema_id, metrics=["percent", "f1"])
    assert [pair["field"] for pair in run["pairs"]] == ["one"] * 3
    assert computed == ["percent"]
    warned = {w["field"] for w in run["warnings"] if w["code"] == "too_many_pairs"}
    assert warned == {"one", "two", "note"}


def test_two_runs_of_the_same_data_are_equal(answers: Answers) -> None:
    schema_id = answers.create_labeled_schema(*ROWS)
    first, second = answers.start(schema_id), answers.start(schema_id)
    answers.work()
    runs = [answers.get(run_id) for run_id in (first, second)]
    assert [run["status"] for run in runs] == ["completed", "completed"]
    assert runs[0]["results"] == runs[1]["results"]
    assert runs[0]["pairs"] == runs[1]["pairs"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"fields": ["kind", "nothing"]}, "fields.1"),
        ({"from": "2099-01-01T00:00:00Z"}, "from"),
        ({"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}, "to"),
        ({"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"}, "to"),
        ({"schema_id": "00000000-0000-7000-8000-000000000000"}, "schema_id"),
    ],
)
def test_bad_requests(answers: Answers, body: dict[str, Any], field: str) -> None:
    schema_id = str(answers.create_schema())
    answer = answers.api.post("/quality/compute", {"schema_id": schema_id, **body})
    check_error(answer, 400, "validation_error", field=field)


def test_a_period_of_fifty_years_ends_now(answers: Answers) -> None:
    schema_id = answers.create_labeled_schema("aa")
    period = {"from": "2000-01-01T00:00:00Z", "to": "2050-01-01T00:00:00Z"}
    run = answers.compute(schema_id, fields=["kind"], metrics=["percent"], **period)
    assert run["results"][0]["units"] == 1
    assert run["to"] <= run["created_at"]


def test_a_schema_of_another_organization_is_unknown(
    answers: Answers, other_answers: Answers
) -> None:
    schema_id = str(other_answers.create_schema())
    answer = answers.api.post("/quality/compute", {"schema_id": schema_id})
    check_error(answer, 400, "validation_error", field="schema_id")


def test_the_list_has_no_results(answers: Answers) -> None:
    schema_id = answers.create_labeled_schema("ab")
    run = answers.compute(schema_id)
    (listed,) = answers.read("runs", schema_id=schema_id, status="completed")
    assert listed["id"] == run["id"]
    assert "results" not in listed
    assert answers.read("runs", status="failed") == []
