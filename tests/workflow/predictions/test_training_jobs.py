"""Trainings as jobs: what interrupts them, what repeats them, and what they wait for."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from app.engines import learning
from app.engines.extraction.model import Example
from app.engines.learning import LearningFailed, LearningInterrupted
from app.kit import db
from app.kit.ids import uuid7
from app.kit.jobs.handlers import HANDLERS, Job
from app.workflow.predictions.service import training
from tests.factories import run_jobs_of
from tests.factories.queueing import call_in_thread
from tests.factories.workspace import Workspace
from tests.workflow.actions import reopen
from tests.workflow.predictions.teaching import (
    accept_invoices,
    count_trainings,
    list_accepted,
    list_models,
)

Examples = Iterable[Example]


def _enqueue(workspace: Workspace, *, force: bool) -> None:
    with workspace.transaction():
        training.enqueue_training(_get_version(workspace), force=force)


def _get_version(workspace: Workspace) -> UUID:
    ((version_id,),) = workspace.sql("SELECT id FROM schema_versions")
    return UUID(str(version_id))


def _run_late(workspace: Workspace) -> int:
    """Run the trainings that are due now or later."""
    sql = "UPDATE jobs SET due_at = now() WHERE queue = 'training' AND due_at > now()"
    workspace.sql(f"{sql} AND organization_id = :org", org=workspace.org.id)
    return run_jobs_of(workspace.org, "training")


def _follow_examples(
    monkeypatch: pytest.MonkeyPatch, after_each: Callable[[int], None]
) -> list[str]:
    """Read the examples without a child, calling `after_each`; return the ids that were read."""
    read: list[str] = []

    def train_in_child(examples: Examples, *_: Any, **__: Any) -> None:
        for example in examples:
            read.append(example.id)
            after_each(len(read))
        raise LearningFailed("crashed", "The training process exited with status 1.")

    monkeypatch.setattr(training, "train_in_child", train_in_child)
    return read


def test_no_transaction_is_open_while_the_child_has_an_example(
    trainable_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept_invoices(trainable_workspace, *range(5))
    open_transactions: list[bool] = []

    def look(_: int) -> None:
        open_transactions.append(db.session().in_transaction())

    read = _follow_examples(monkeypatch, look)
    assert run_jobs_of(trainable_workspace.org, "training") == 1
    assert len(set(read)) == 5
    assert open_transactions == [False] * 5


def test_a_run_that_lost_its_lease_stops_at_the_next_example(
    trainable_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept_invoices(trainable_workspace, *range(5))

    def take_over(count: int) -> None:
        if count == 2:
            sql = "UPDATE jobs SET lease_token = :token WHERE queue = 'training'"
            trainable_workspace.sql(
                f"{sql} AND organization_id = :org", token=uuid7(), org=trainable_workspace.org.id
            )

    read = _follow_examples(monkeypatch, take_over)
    run_jobs_of(trainable_workspace.org, "training")
    assert len(read) == 2
    assert list_models(trainable_workspace) == []


def test_a_child_that_is_killed_is_started_again(
    trainable_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept_invoices(trainable_workspace, *range(5))
    start_child = learning._start_child
    started: list[int] = []

    @contextmanager
    def start_and_kill_the_first() -> Iterator[Any]:
        with start_child() as child:
            started.append(child.pid)
            if len(started) == 1:
                child.kill()
                child.wait()
            yield child

    monkeypatch.setattr(learning, "_start_child", start_and_kill_the_first)
    assert run_jobs_of(trainable_workspace.org, "training") == 1
    assert (list_models(trainable_workspace), count_trainings(trainable_workspace)) == ([], 1)
    assert _run_late(trainable_workspace) == 1
    assert [model[1] for model in list_models(trainable_workspace)] == ["active"]
    assert len(started) == 2


def test_a_child_that_is_always_killed_is_recorded(
    trainable_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept_invoices(trainable_workspace, *range(5))

    def train_in_child(*_: Any, **__: Any) -> None:
        raise LearningInterrupted

    monkeypatch.setattr(training, "train_in_child", train_in_child)
    assert [_run_late(trainable_workspace) for _ in range(6)] == [1, 1, 1, 1, 1, 0]
    ((_, state, _, count, _),) = list_models(trainable_workspace)
    assert (state, count) == ("failed", 5)
    assert trainable_workspace.sql("SELECT error ->> 'code' FROM extraction_models") == [
        ("interrupted",)
    ]
    accept_invoices(trainable_workspace, 5)
    assert count_trainings(trainable_workspace) == 0


def test_a_forced_training_is_not_dropped_for_one_that_waits(
    trainable_workspace: Workspace,
) -> None:
    accept_invoices(trainable_workspace, *range(5))
    assert run_jobs_of(trainable_workspace.org, "training") == 1
    accept_invoices(trainable_workspace, 5)
    for force in (False, True, False, True):
        _enqueue(trainable_workspace, force=force)
    assert count_trainings(trainable_workspace) == 2
    assert run_jobs_of(trainable_workspace.org, "training") == 2
    assert [model[3] for model in list_models(trainable_workspace)] == [5, 6]


def test_documents_that_are_accepted_during_a_training_are_learned(
    trainable_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept_invoices(trainable_workspace, *range(5))
    train, runs = training.train_in_child, []

    def train_in_child(*args: Any, **options: Any) -> Any:
        runs.append(args)
        if len(runs) == 1:
            call_in_thread(accept_invoices, trainable_workspace, *range(5, 10))
        return train(*args, **options)

    monkeypatch.setattr(training, "train_in_child", train_in_child)
    assert run_jobs_of(trainable_workspace.org, "training", "bulk", "training") == 3
    assert [model[3] for model in list_models(trainable_workspace)] == [5, 10]
    assert run_jobs_of(trainable_workspace.org, "bulk") == 1
    assert count_trainings(trainable_workspace) == 0


def test_documents_that_are_accepted_before_a_training_commits_are_learned(
    trainable_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept_invoices(trainable_workspace, *range(5))
    handler = HANDLERS[training.TRAIN_JOB]

    def train_and_accept(job: Job) -> None:
        handler.function(job)
        if len(list_accepted(trainable_workspace)) == 5:
            call_in_thread(accept_invoices, trainable_workspace, *range(5, 10))

    monkeypatch.setitem(HANDLERS, handler.name, replace(handler, function=train_and_accept))
    run_jobs_of(trainable_workspace.org, "training", "bulk", "training")
    assert [model[3] for model in list_models(trainable_workspace)] == [5, 10]


def test_a_tag_set_that_is_reopened_during_a_training_is_not_learned(
    trainable_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept_invoices(trainable_workspace, *range(6))
    (reopened_id, *_) = list_accepted(trainable_workspace)

    def reopen_once(count: int) -> None:
        if count == 1:
            reopening = partial(reopen, trainable_workspace, {"id": reopened_id}, by="admin")
            assert call_in_thread(reopening).status_code == 200

    read = _follow_examples(monkeypatch, reopen_once)
    assert run_jobs_of(trainable_workspace.org, "training") == 1
    assert len(list_accepted(trainable_workspace)) == 5
    assert len(read) == 5
    assert all(str(reopened_id) not in example_id for example_id in read)


def test_a_schema_is_deleted_with_its_models(trainable_workspace: Workspace) -> None:
    documents = accept_invoices(trainable_workspace, *range(5))
    assert run_jobs_of(trainable_workspace.org, "training") == 1
    version_id = _get_version(trainable_workspace)
    for artifact_id in documents:
        response = trainable_workspace.org.api("admin").delete(f"/artifacts/{artifact_id}")
        assert response.status_code == 204
    assert len(list_models(trainable_workspace)) == 1
    _enqueue(trainable_workspace, force=True)
    path = f"/schemas/{trainable_workspace.schema_id}"  # type: ignore[attr-defined]
    assert trainable_workspace.org.api("admin").delete(path).status_code == 204
    run_jobs_of(trainable_workspace.org, "default", "bulk", "training")
    assert list_models(trainable_workspace) == []
    failed = trainable_workspace.sql("SELECT function, error FROM jobs WHERE organization_id = :org"
                        " AND error IS NOT NULL", org=trainable_workspace.org.id)  # fmt: skip
    assert failed == []
    with trainable_workspace.transaction():
        training.record_failure(version_id, LearningFailed("interrupted", "It was killed."))
