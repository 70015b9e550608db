"""Training: when it happens, what it stores, and that predictions then use it."""

from typing import Any
from uuid import UUID

import pytest

from app.kit.ids import uuid7
from app.workflow.predictions.service.training import compute_next_count
from tests.factories import Org, run_jobs_of
from tests.factories.labels import make_field
from tests.factories.workspace import Workspace, tag
from tests.workflow.predictions.conftest import predict, set_assistance, show_prediction

FIELDS = [make_field("number", "text"), make_field("total", "money")]
VENDORS = ("Blue Anchor", "North Wind", "Old Harbour")


def _write(number: int) -> tuple[str, list[Any]]:
    """Return the text of an invoice of one of three layouts, and its tags."""
    code, amount = f"RX-{4000 + 37 * number}", f"{20 + number}.{number % 10}5"
    vendor = VENDORS[number % 3]
    lines = [
        [vendor, f"Invoice No {code}", f"Amount due EUR {amount}"],
        [f"Bill {code}", vendor, "Thank you", f"To pay: EUR {amount}"],
        [vendor, "Rope 3 pieces", f"Sum EUR {amount}", f"Our reference {code}"],
    ][number % 3]
    money = {"amount": amount, "currency": "EUR"}
    return "\n".join(lines), [tag("number", code), tag("total", money)]


@pytest.fixture
def taught(org: Org) -> Workspace:
    """Return a workspace whose schema has AI assistance."""
    workspace = Workspace(org)
    workspace.schema_id = workspace.schema(fields=FIELDS)  # type: ignore[attr-defined]
    set_assistance(workspace, enabled=True)
    return workspace


def _create(workspace: Workspace, number: int) -> UUID:
    text, _ = _write(number)
    return workspace.artifact(workspace.schema_id, text=text, page_count=1)  # type: ignore[attr-defined]


def _accept(workspace: Workspace, *numbers: int) -> list[UUID]:
    """Label documents, and accept the tag sets; return the documents."""
    created = []
    for number in numbers:
        artifact_id = _create(workspace, number)
        saved = workspace.save(workspace.draft(artifact_id), _write(number)[1])
        assert saved.status_code == 200, saved.json
        path = f"/tag-sets/{saved.json['data']['id']}"
        assert workspace.org.api("labeler").post(f"{path}/submit").status_code == 200
        assert workspace.org.api("reviewer").post(f"{path}/accept", json={}).status_code == 200
        created.append(artifact_id)
    run_jobs_of(workspace.org, "default", "bulk")
    return created


def _models(workspace: Workspace) -> list[Any]:
    return workspace.sql(
        "SELECT id, state, version, document_count, f1 FROM extraction_models ORDER BY created_at"
    )


def _predict(workspace: Workspace, artifact_id: UUID) -> Any:
    assert predict(workspace, str(artifact_id)).status_code == 202
    run_jobs_of(workspace.org, "predictions")
    return show_prediction(workspace, str(artifact_id))


@pytest.mark.parametrize(
    ("trained", "following"),
    [(0, 5), (5, 10), (10, 20), (20, 50), (50, 100), (100, 125), (125, 150), (1000, 1100)],
)
def test_when_the_next_training_is_due(trained: int, following: int) -> None:
    assert compute_next_count(trained) == following


def test_five_accepted_tag_sets_train_a_model_that_predicts(taught: Workspace) -> None:
    _accept(taught, *range(4))
    assert run_jobs_of(taught.org, "training") == 0
    fresh = _create(taught, 40)
    shown = _predict(taught, fresh)
    assert (shown["status"], shown["model_version"]) == ("completed", "rules-1")
    _accept(taught, *range(4, 9))
    assert run_jobs_of(taught.org, "training") == 1
    ((_, state, version, count, _f1),) = _models(taught)
    assert (state, count) == ("active", 9)
    shown = _predict(taught, fresh)
    assert (shown["status"], shown["model_version"]) == ("completed", version)
    path = f"/artifacts/{fresh}/tag-sets"
    draft = taught.org.api("labeler").post(path, {"from": "prediction"}).json["data"]
    assert draft["prediction"]["model_version"] == version
    proposed = {one["field"]: one["value"] for one in draft["tags"]}
    assert proposed == {one["field"]: one["value"] for one in _write(40)[1]}
    assert all(0 <= one["confidence"] <= 1 for one in draft["tags"])


def test_models_and_examples_of_other_organizations_are_not_used(
    taught: Workspace, other_org: Org
) -> None:
    _accept(taught, *range(5))
    run_jobs_of(taught.org, "training")
    other = Workspace(other_org)
    other.schema_id = other.schema(fields=FIELDS)  # type: ignore[attr-defined]
    set_assistance(other, enabled=True)
    assert _models(other) == []
    assert _predict(other, _create(other, 40))["model_version"] == "rules-1"


def test_content_that_is_not_authentic_is_not_parsed(taught: Workspace) -> None:
    _accept(taught, *range(5))
    run_jobs_of(taught.org, "training")
    taught.sql("UPDATE extraction_models SET content = content || decode('00', 'hex')")
    assert _predict(taught, _create(taught, 40))["model_version"] == "rules-1"


def test_deleting_a_document_deletes_what_learned_from_it(taught: Workspace) -> None:
    documents = _accept(taught, *range(6))
    run_jobs_of(taught.org, "training")
    ((first, *_),) = _models(taught)
    assert taught.org.api("admin").delete(f"/artifacts/{documents[0]}").status_code == 204
    run_jobs_of(taught.org, "default", "bulk")
    assert _models(taught) == []
    run_jobs_of(taught.org, "training")
    ((second, state, *_),) = _models(taught)
    assert (second != first, state) == (True, "active")
    ((learned,),) = taught.sql("SELECT artifact_ids FROM extraction_models")
    assert sorted(learned) == sorted(documents[1:])


def test_a_training_that_fails_is_recorded_and_not_repeated(taught: Workspace) -> None:
    for number in range(5):
        artifact_id = _create(taught, number)
        saved = taught.save(taught.draft(artifact_id), [tag("number", f"absent {uuid7()}")])
        path = f"/tag-sets/{saved.json['data']['id']}"
        taught.org.api("labeler").post(f"{path}/submit")
        taught.org.api("reviewer").post(f"{path}/accept", json={})
    run_jobs_of(taught.org, "default", "bulk")
    assert run_jobs_of(taught.org, "training") == 1
    ((_, state, *_),) = _models(taught)
    assert state == "failed"
    ((error,),) = taught.sql("SELECT error FROM extraction_models")
    assert error["code"] == "not_enough_examples"
    _accept(taught, 20)
    assert run_jobs_of(taught.org, "training") == 0


def test_an_operator_rolls_back(taught: Workspace) -> None:
    _accept(taught, *range(5))
    run_jobs_of(taught.org, "training")
    ((first, _, version, *_),) = _models(taught)
    _accept(taught, *range(5, 10))
    run_jobs_of(taught.org, "training")
    assert len(_models(taught)) == 2
    run = taught.org.app.test_cli_runner().invoke
    result = run(args=["extraction", "activate", "--org", taught.org.slug, str(first)])
    assert result.exit_code == 0, result.output
    states = {row[0]: row[1] for row in _models(taught)}
    assert states.pop(first) == "active"
    assert set(states.values()) <= {"retired", "candidate"}
    assert _predict(taught, _create(taught, 40))["model_version"] == version
    shown = run(
        args=["extraction", "versions", "--org", taught.org.slug, "--schema", str(taught.schema_id)]  # type: ignore[attr-defined]
    )
    assert version in shown.output


def test_the_command_evaluates(taught: Workspace) -> None:
    _accept(taught, *range(12))
    args = ["extraction", "evaluate", "--org", taught.org.slug]
    args += ["--schema", str(taught.schema_id), "--folds", "2"]  # type: ignore[attr-defined]
    result = taught.org.app.test_cli_runner().invoke(args=args)
    assert result.exit_code == 0, result.output
    assert "number" in result.output
    assert "expected_calibration_error" in result.output
