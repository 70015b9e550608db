"""Training: when it happens, what it stores, and that predictions then use it."""

from uuid import UUID

import pytest

from app.kit.ids import uuid7
from app.workflow.predictions.service.training import compute_next_document_count
from tests.factories import Org, run_jobs_of
from tests.factories.workspace import Workspace, tag
from tests.workflow.actions import get_data, start_draft, submit
from tests.workflow.predictions.conftest import (
    LEARNED_FIELDS,
    build_assisted_workspace,
    set_assistance,
)
from tests.workflow.predictions.teaching import (
    accept_invoices,
    accept_tags,
    count_trainings,
    create_invoice,
    list_models,
    predict_artifact,
    write_invoice,
)


@pytest.mark.parametrize(
    ("trained", "following"),
    [(0, 5), (5, 10), (10, 20), (20, 50), (50, 100), (100, 125), (125, 150), (1000, 1100)],
)
def test_when_the_next_training_is_due(trained: int, following: int) -> None:
    assert compute_next_document_count(trained) == following


def test_five_accepted_tag_sets_train_a_model_that_predicts(trainable_workspace: Workspace) -> None:
    accept_invoices(trainable_workspace, *range(4))
    assert run_jobs_of(trainable_workspace.org, "training") == 0
    fresh = create_invoice(trainable_workspace, 40)
    shown = predict_artifact(trainable_workspace, fresh)
    assert (shown["status"], shown["model_version"]) == ("completed", "rules-1")
    accept_invoices(trainable_workspace, *range(4, 9))
    assert run_jobs_of(trainable_workspace.org, "training") == 1
    ((_, state, version, count, _f1),) = list_models(trainable_workspace)
    assert (state, count) == ("active", 9)
    shown = predict_artifact(trainable_workspace, fresh)
    assert (shown["status"], shown["model_version"]) == ("completed", version)
    draft = start_draft(trainable_workspace, fresh, source="prediction").json["data"]
    assert draft["prediction"]["model_version"] == version
    proposed = {one["field"]: one["value"] for one in draft["tags"]}
    assert proposed == {one["field"]: one["value"] for one in write_invoice(40)[1]}
    assert all(0 <= one["confidence"] <= 1 for one in draft["tags"])


def test_only_what_can_be_learned_from_counts(trainable_workspace: Workspace) -> None:
    schema_id = trainable_workspace.schema_id  # type: ignore[attr-defined]
    accept_invoices(trainable_workspace, *range(3))
    scans = [trainable_workspace.artifact(schema_id, text=text, page_count=pages)
             for text, pages in (("", 1), ("\f\f", 3))]  # fmt: skip
    for scan in scans:
        accept_tags(trainable_workspace, scan, [tag("number", "A-1")])
    accept_tags(trainable_workspace, create_invoice(trainable_workspace, 3), [])
    run_jobs_of(trainable_workspace.org, "default", "bulk")
    assert count_trainings(trainable_workspace) == 0
    accept_invoices(trainable_workspace, 4)
    assert count_trainings(trainable_workspace) == 0
    accept_invoices(trainable_workspace, 5)
    assert run_jobs_of(trainable_workspace.org, "training") == 1
    ((_, state, _, count, _),) = list_models(trainable_workspace)
    assert (state, count) == ("active", 5)
    ((learned,),) = trainable_workspace.sql("SELECT artifact_ids FROM extraction_models")
    assert len(learned) == 5
    assert not {*scans} & {*learned}


def _submit_unchanged(workspace: Workspace, number: int) -> UUID:
    """Submit a prediction for an invoice unchanged, and return the document.

    The policy of the schema accepts the tag set.
    """
    artifact_id = create_invoice(workspace, number)
    tags = [{**one, "confidence": 0.99} for one in write_invoice(number)[1]]
    workspace.predict(artifact_id, tags)
    draft = get_data(start_draft(workspace, artifact_id, source="prediction"))
    submitted = get_data(submit(workspace, draft))
    assert (submitted["status"], submitted["reviewer"]) == ("accepted", None)
    return artifact_id


def _set_policy(workspace: Workspace, **policy: float) -> None:
    """Give the workspace another schema, with this review policy."""
    workspace.schema_id = workspace.schema(  # type: ignore[attr-defined]
        fields=LEARNED_FIELDS, **policy
    )
    set_assistance(workspace, enabled=True)


def test_a_model_does_not_learn_from_values_that_it_was_confident_of(
    trainable_workspace: Workspace,
) -> None:
    _set_policy(trainable_workspace, auto_accept_confidence=0.9)
    checked = accept_invoices(trainable_workspace, *range(4))
    for number in range(4, 9):
        _submit_unchanged(trainable_workspace, number)
    run_jobs_of(trainable_workspace.org, "default", "bulk")
    assert count_trainings(trainable_workspace) == 0
    checked += accept_invoices(trainable_workspace, 9)
    assert run_jobs_of(trainable_workspace.org, "training") == 1
    ((_, _, _, count, _),) = list_models(trainable_workspace)
    ((learned,),) = trainable_workspace.sql("SELECT artifact_ids FROM extraction_models")
    assert (count, sorted(learned)) == (5, sorted(checked))


def test_a_model_learns_from_labelers_whose_work_is_not_reviewed(
    trainable_workspace: Workspace,
) -> None:
    _set_policy(trainable_workspace, sample_rate=0.0)
    for number in range(5):
        _submit_unchanged(trainable_workspace, number)
    run_jobs_of(trainable_workspace.org, "default", "bulk")
    assert count_trainings(trainable_workspace) == 1


def test_models_and_examples_of_other_organizations_are_not_used(
    trainable_workspace: Workspace, other_org: Org
) -> None:
    accept_invoices(trainable_workspace, *range(5))
    run_jobs_of(trainable_workspace.org, "training")
    other = build_assisted_workspace(other_org, LEARNED_FIELDS)
    assert list_models(other) == []
    assert predict_artifact(other, create_invoice(other, 40))["model_version"] == "rules-1"


def test_content_that_is_not_authentic_is_not_parsed(trainable_workspace: Workspace) -> None:
    accept_invoices(trainable_workspace, *range(5))
    run_jobs_of(trainable_workspace.org, "training")
    trainable_workspace.sql("UPDATE extraction_models SET content = content || decode('00', 'hex')")
    shown = predict_artifact(trainable_workspace, create_invoice(trainable_workspace, 40))
    assert shown["model_version"] == "rules-1"


def test_deleting_a_document_deletes_what_learned_from_it(trainable_workspace: Workspace) -> None:
    documents = accept_invoices(trainable_workspace, *range(6))
    run_jobs_of(trainable_workspace.org, "training")
    ((first, *_),) = list_models(trainable_workspace)
    response = trainable_workspace.org.api("admin").delete(f"/artifacts/{documents[0]}")
    assert response.status_code == 204
    run_jobs_of(trainable_workspace.org, "default", "bulk")
    assert list_models(trainable_workspace) == []
    run_jobs_of(trainable_workspace.org, "training")
    ((second, state, *_),) = list_models(trainable_workspace)
    assert (second != first, state) == (True, "active")
    ((learned,),) = trainable_workspace.sql("SELECT artifact_ids FROM extraction_models")
    assert sorted(learned) == sorted(documents[1:])


def test_a_training_that_fails_is_recorded_and_not_repeated(trainable_workspace: Workspace) -> None:
    for number in range(5):
        tags = [tag("number", f"absent {uuid7()}")]
        accept_tags(trainable_workspace, create_invoice(trainable_workspace, number), tags)
    run_jobs_of(trainable_workspace.org, "default", "bulk")
    assert run_jobs_of(trainable_workspace.org, "training") == 1
    ((_, state, *_),) = list_models(trainable_workspace)
    assert state == "failed"
    ((error,),) = trainable_workspace.sql("SELECT error FROM extraction_models")
    assert error["code"] == "not_enough_examples"
    accept_invoices(trainable_workspace, 20)
    assert run_jobs_of(trainable_workspace.org, "training") == 0


def test_an_operator_rolls_back(trainable_workspace: Workspace) -> None:
    accept_invoices(trainable_workspace, *range(5))
    run_jobs_of(trainable_workspace.org, "training")
    ((first, _, version, *_),) = list_models(trainable_workspace)
    accept_invoices(trainable_workspace, *range(5, 10))
    run_jobs_of(trainable_workspace.org, "training")
    assert len(list_models(trainable_workspace)) == 2
    run = trainable_workspace.org.app.test_cli_runner().invoke
    for command in (
        ["activate", str(trainable_workspace.org.id)],
        ["train", "--schema", str(trainable_workspace.org.id)],
    ):
        result = run(args=["extraction", *command, "--org", trainable_workspace.org.slug])
        assert (result.exit_code, "no such organization" in result.output) == (1, False)
        assert "The organization has no such" in result.output
    result = run(args=["extraction", "activate", "--org", trainable_workspace.org.slug, str(first)])
    assert result.exit_code == 0, result.output
    states = {row[0]: row[1] for row in list_models(trainable_workspace)}
    assert states.pop(first) == "active"
    assert set(states.values()) <= {"retired", "candidate"}
    shown = predict_artifact(trainable_workspace, create_invoice(trainable_workspace, 40))
    assert shown["model_version"] == version
    schema_id = str(trainable_workspace.schema_id)  # type: ignore[attr-defined]
    options = ["--org", trainable_workspace.org.slug, "--schema", schema_id]
    assert version in run(args=["extraction", "versions", *options]).output


def test_the_command_evaluates(trainable_workspace: Workspace) -> None:
    accept_invoices(trainable_workspace, *range(12))
    args = ["extraction", "evaluate", "--org", trainable_workspace.org.slug]
    args += ["--schema", str(trainable_workspace.schema_id), "--folds", "2"]  # type: ignore[attr-defined]
    result = trainable_workspace.org.app.test_cli_runner().invoke(args=args)
    assert result.exit_code == 0, result.output
    assert "number" in result.output
    assert "expected_calibration_error" in result.output
