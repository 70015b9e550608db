"""Active models that cannot be read any more: rules predict, and one training replaces them."""

import json
import zipfile
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest

from app.engines.learning import LearningFailed
from app.kit import tenancy
from app.workflow.predictions.service import store, training
from tests.factories import run_jobs_of
from tests.factories.workspace import Workspace
from tests.workflow.predictions.teaching import (
    accept_invoices,
    count_trainings,
    create_invoice,
    list_models,
    predict_artifact,
)


def _damage(workspace: Workspace) -> None:
    """Change the content of the models, so that their MAC does not verify."""
    workspace.sql("UPDATE extraction_models SET content = content || decode('00', 'hex')")


def _age(workspace: Workspace) -> None:
    """Replace the content of the model by that of an earlier release, with a valid MAC."""
    ((version_id, version, content),) = workspace.sql(
        "SELECT schema_version_id, version, content FROM extraction_models"
    )
    buffer = BytesIO()
    with zipfile.ZipFile(BytesIO(content)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            entry = old.read(name)
            if name == "model.json":
                entry = json.dumps({**json.loads(entry), "feature_version": 0}).encode()
            new.writestr(name, entry)
    with workspace.org.app.app_context(), tenancy.organization(workspace.org.id):
        mac = store.build_mac(version_id, version, buffer.getvalue())
    workspace.sql(
        "UPDATE extraction_models SET content = :content, mac = :mac",
        content=buffer.getvalue(),
        mac=mac,
    )


Damage = Callable[[Workspace], None]
both = pytest.mark.parametrize("damage", [_damage, _age])


def _train_first(workspace: Workspace) -> Any:
    accept_invoices(workspace, *range(5))
    assert run_jobs_of(workspace.org, "training") == 1
    ((model_id, state, version, *_),) = list_models(workspace)
    assert state == "active"
    return model_id, version


def _check_replaced(workspace: Workspace, model_id: Any) -> None:
    """Check that a queued training replaces the model, and that predictions use the new one."""
    ((state, error),) = workspace.sql("SELECT state, error FROM extraction_models")
    assert (state, error["code"]) == ("retired", "unreadable")
    assert count_trainings(workspace) == 1
    assert run_jobs_of(workspace.org, "training") == 1
    states = {model[0]: model[1] for model in list_models(workspace)}
    assert states.pop(model_id) == "retired"
    assert list(states.values()) == ["active"]
    ((version,),) = workspace.sql("SELECT version FROM extraction_models WHERE state = 'active'")
    shown = predict_artifact(workspace, create_invoice(workspace, 42))
    assert (shown["status"], shown["model_version"]) == ("completed", version)
    assert count_trainings(workspace) == 0


@both
def test_a_prediction_notices_it(trainable_workspace: Workspace, damage: Damage) -> None:
    model_id, _ = _train_first(trainable_workspace)
    damage(trainable_workspace)
    for number in (40, 41):
        shown = predict_artifact(trainable_workspace, create_invoice(trainable_workspace, number))
        assert (shown["status"], shown["model_version"]) == ("completed", "rules-1")
    _check_replaced(trainable_workspace, model_id)


@both
def test_an_accepted_tag_set_notices_it(trainable_workspace: Workspace, damage: Damage) -> None:
    model_id, _ = _train_first(trainable_workspace)
    damage(trainable_workspace)
    accept_invoices(trainable_workspace, 5)
    accept_invoices(trainable_workspace, 6)
    _check_replaced(trainable_workspace, model_id)


def test_a_training_notices_it(trainable_workspace: Workspace) -> None:
    model_id, _ = _train_first(trainable_workspace)
    _damage(trainable_workspace)
    ((version_id,),) = trainable_workspace.sql("SELECT schema_version_id FROM extraction_models")
    with trainable_workspace.transaction():
        training.enqueue_training(version_id)
    assert run_jobs_of(trainable_workspace.org, "training") == 2
    states = {model[0]: model[1] for model in list_models(trainable_workspace)}
    assert states.pop(model_id) == "retired"
    assert list(states.values()) == ["active"]


def test_a_replacement_that_fails_is_not_repeated(
    trainable_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    _train_first(trainable_workspace)
    _damage(trainable_workspace)
    accept_invoices(trainable_workspace, 5)

    def fail(*_: Any, **__: Any) -> None:
        raise LearningFailed("crashed", "The training process exited with status 1.")

    monkeypatch.setattr(training, "train_in_child", fail)
    assert run_jobs_of(trainable_workspace.org, "training") == 1
    assert [model[1] for model in list_models(trainable_workspace)] == ["retired", "failed"]
    accept_invoices(trainable_workspace, 6)
    shown = predict_artifact(trainable_workspace, create_invoice(trainable_workspace, 40))
    assert shown["model_version"] == "rules-1"
    assert count_trainings(trainable_workspace) == 0


def test_it_cannot_be_activated(trainable_workspace: Workspace) -> None:
    model_id, _ = _train_first(trainable_workspace)
    _age(trainable_workspace)
    args = ["extraction", "activate", "--org", trainable_workspace.org.slug, str(model_id)]
    result = trainable_workspace.org.app.test_cli_runner().invoke(args=args)
    assert result.exit_code != 0
    assert "no valid content" in result.output
