"""The messages of warnings, as people read them."""

from typing import Any

from app.insight.quality_runs.queries.answers import MAX_BYTES
from tests.factories.labels import make_field
from tests.insight.quality_runs.conftest import FIELDS, Answers, get_result, tag


def _get_messages(run: dict[str, Any]) -> dict[str, str]:
    return {warning["code"]: warning["message"] for warning in run["warnings"]}


def test_messages_about_one_document_or_tag_set_are_singular(answers: Answers) -> None:
    schema_id = answers.create_labeled_schema("a")
    fields = [make_field("kind", "text"), *FIELDS[1:]]
    version_id = answers.add_version(schema_id, fields)
    artifact_ids = [answers.workspace.artifact(schema_id) for _ in range(2)]
    clause = tag("clause", "x", start=0, end=10)
    for by in ("labeler", "admin"):
        answers.add_answer(artifact_ids[0], schema_id, by, clause, version_id=version_id)
    too_long = tag("note", "x" * MAX_BYTES)
    answers.add_answer(artifact_ids[1], schema_id, "admin", too_long, version_id=version_id)
    statement = "UPDATE schemas SET current_version_id = :version WHERE id = :id"
    answers.workspace.sql(statement, version=version_id, id=schema_id)
    messages = _get_messages(answers.compute(schema_id, fields=["kind", "clause"]))
    assert messages["tag_set_too_large"] == "The run left out 1 tag set above the maximum size."
    assert messages["field_type_changed"] == (
        "The field has another type in version 1 of the schema; the run left out 1 tag set of that"
        " version."
    )
    assert messages["missing_ratings"] == (
        "1 document was seen by only one person and is not counted."
    )


def test_a_warning_explains_why_there_is_no_interval(answers: Answers) -> None:
    # Cohen's kappa needs both of the first two documents: the second pair always agrees on "c".
    schema_id = answers.create_labeled_schema("aa.", "bb.", *[".cc"] * 10)
    run = answers.compute(schema_id, fields=["kind"], metrics=["cohen_kappa"])
    kappa = get_result(run, "kind", "cohen_kappa")
    assert (kappa["value"], kappa["ci_low"], kappa["ci_high"]) == (1, None, None)
    messages = _get_messages(run)
    assert messages["undefined_resamples"].startswith("The coefficient `cohen_kappa` is undefined")
    assert messages["undefined_resamples"].endswith(
        "bootstrap resamples, which is more than half, so there is no interval."
    )
    assert "few_units" not in messages


def test_a_warning_names_the_coefficient_that_some_resamples_lack(answers: Answers) -> None:
    schema_id = answers.create_labeled_schema("aa.", *["bb."] * 10)
    run = answers.compute(schema_id, fields=["kind"], metrics=["percent", "cohen_kappa"])
    assert get_result(run, "kind", "cohen_kappa")["ci_low"] == 1
    message = _get_messages(run)["undefined_resamples"]
    assert message.startswith("The coefficient `cohen_kappa` is undefined in ")
    assert message.endswith("bootstrap resamples. The interval is based on the other resamples.")
