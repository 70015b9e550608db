"""Predictions by a model server: what it answers, and what it must not do to us."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from app.kit import container
from app.kit.ids import uuid7
from app.workflow.predictions.service import provider
from tests.factories import run_jobs_of
from tests.factories.workspace import Workspace
from tests.workflow.actions import get_data, start_draft
from tests.workflow.predictions.conftest import TEXT, create_document, predict, show_prediction

UseServer = Callable[[str], None]


def _run(workspace: Workspace) -> None:
    """Run the jobs until none of the queue is left; a retry is due at once."""
    for _ in range(5):
        workspace.sql(
            "UPDATE jobs SET due_at = now() WHERE queue = 'model_servers' AND due_at > now()"
        )
        run_jobs_of(workspace.org, "model_servers")


def _predict(workspace: Workspace) -> tuple[str, Any]:
    artifact_id = create_document(workspace)
    assert predict(workspace, artifact_id).status_code == 202
    _run(workspace)
    return artifact_id, show_prediction(workspace, artifact_id)


def _draft(workspace: Workspace, artifact_id: str) -> dict[str, Any]:
    return get_data(start_draft(workspace, artifact_id, source="prediction"))


@pytest.mark.parametrize("behavior", ["good", "slow", "busy_once", "largest"])
def test_values_become_tags_with_evidence(
    assisted_workspace: Workspace, use_server: UseServer, behavior: str
) -> None:
    use_server(behavior)
    artifact_id, shown = _predict(assisted_workspace)
    assert (shown["status"], shown["model_version"], shown["error"]) == (
        "completed",
        "small-2026",
        None,
    )
    draft = _draft(assisted_workspace, artifact_id)
    assert draft["prediction"] == {"id": shown["id"], "model_version": "small-2026"}
    tags = {(tag["field"], tag["row"]): tag for tag in draft["tags"]}
    values = {key: tag["value"] for key, tag in tags.items()}
    assert values == {
        ("number", None): "A-17",
        ("total", None): {"amount": "1250.50", "currency": "EUR"},
        ("issued", None): "2026-03-03",
        ("paid", None): False,
        ("lines.item", 0): "Anchor",
        ("lines.item", 1): "Rope",
    }
    assert {tag["source"] for tag in tags.values()} == {"model"}
    (evidence,) = tags["total", None]["evidence"]
    assert TEXT[evidence["start"] : evidence["end"]] == evidence["text"] == "EUR 1,250.50"
    (evidence,) = tags["issued", None]["evidence"]
    assert evidence["text"] == "3 March 2026"
    assert evidence["page"] == 1
    assert len(evidence["box"]) == 4
    assert tags["paid", None]["evidence"] == []
    usage = assisted_workspace.sql(
        "SELECT model, pages, prompt_tokens, completion_tokens FROM predictions"
    )
    assert usage == [("small", 1, 120, 30)]


@pytest.mark.parametrize(
    ("behavior", "fields"),
    [
        pytest.param("made_up", ["issued", "paid"], id="values that are not in the document"),
        pytest.param("nonsense", [], id="values of wrong types"),
    ],
)
def test_values_that_cannot_be_used_are_left_out(
    assisted_workspace: Workspace, use_server: UseServer, behavior: str, fields: list[str]
) -> None:
    use_server(behavior)
    artifact_id, shown = _predict(assisted_workspace)
    assert shown["status"] == "completed"
    draft = _draft(assisted_workspace, artifact_id)
    assert [tag["field"] for tag in draft["tags"]] == fields


def test_a_model_version_that_the_database_cannot_store_is_ignored(
    assisted_workspace: Workspace, use_server: UseServer
) -> None:
    use_server("nul")
    artifact_id, shown = _predict(assisted_workspace)
    assert (shown["status"], shown["model_version"]) == ("completed", "small")
    assert _draft(assisted_workspace, artifact_id)["tags"] != []


@pytest.mark.parametrize(
    ("behavior", "code", "retries"),
    [
        ("prose", "invalid_answer", 2),
        ("never", "timed_out", 2),
        ("refuses", "credentials_refused", 0),
        ("huge", "answer_too_large", 0),
    ],
)
def test_a_server_that_fails(
    assisted_workspace: Workspace,
    use_server: UseServer,
    monkeypatch: pytest.MonkeyPatch,
    behavior: str,
    code: str,
    retries: int,
) -> None:
    if behavior == "never":
        monkeypatch.setattr(provider, "DEADLINE_SECONDS", 0.5)
    use_server(behavior)
    artifact_id, shown = _predict(assisted_workspace)
    assert (shown["status"], shown["error"]["code"]) == ("failed", code)
    assert "sk-right" not in str(shown)
    attempts = assisted_workspace.sql(
        "SELECT attempts FROM jobs WHERE queue = 'model_servers' AND organization_id = :org",
        org=assisted_workspace.org.id,
    )
    assert attempts == [(retries,)]
    refused = start_draft(assisted_workspace, artifact_id, source="prediction")
    assert (refused.status_code, refused.json["error"]["field"]) == (400, "from")
    assert predict(assisted_workspace, artifact_id).json["data"]["id"] != shown["id"]


def test_a_server_that_says_when_it_will_answer(
    assisted_workspace: Workspace, use_server: UseServer
) -> None:
    use_server("busy_for_minutes")
    artifact_id = create_document(assisted_workspace)
    assert predict(assisted_workspace, artifact_id).status_code == 202
    run_jobs_of(assisted_workspace.org, "model_servers")
    ((wait,),) = assisted_workspace.sql(
        "SELECT extract(epoch FROM due_at - now()) FROM jobs WHERE queue = 'model_servers'"
        " AND organization_id = :org AND finished_at IS NULL",
        org=assisted_workspace.org.id,
    )
    assert 200 < wait <= 240
    _run(assisted_workspace)
    assert show_prediction(assisted_workspace, artifact_id)["status"] == "completed"


def test_a_silent_server_occupies_no_slot(
    assisted_workspace: Workspace, use_server: UseServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After its timeouts the other predictions wait, without an attempt, until the next trial."""
    monkeypatch.setattr(provider, "DEADLINE_SECONDS", 0.5)
    use_server("never")
    _, shown = _predict(assisted_workspace)
    assert shown["error"]["code"] == "timed_out"
    artifact_id = create_document(assisted_workspace, f"{TEXT}Again")
    assert predict(assisted_workspace, artifact_id).status_code == 202
    run_jobs_of(assisted_workspace.org, "model_servers")
    ((attempts, wait),) = assisted_workspace.sql(
        "SELECT attempts, extract(epoch FROM due_at - now()) FROM jobs"
        " WHERE queue = 'model_servers' AND organization_id = :org AND finished_at IS NULL",
        org=assisted_workspace.org.id,
    )
    assert attempts == 0
    assert 60 < wait <= provider.FIRST_PAUSE.total_seconds()
    use_server("good")
    _run(assisted_workspace)
    assert show_prediction(assisted_workspace, artifact_id)["status"] == "completed"


@pytest.mark.usefixtures("app")
def test_a_trial_is_the_only_request_until_its_deadline() -> None:
    deadline, organization_id = timedelta(seconds=90), uuid7()
    server = provider.ModelServer(organization_id, "http://model.example")
    for _ in range(provider.MAX_TIMEOUTS):
        assert server.reserve_request(deadline) is None
        server.record_outcome(is_timeout=True)
    wait = server.reserve_request(deadline)
    assert wait is not None
    assert deadline < wait <= provider.FIRST_PAUSE
    other = provider.ModelServer(organization_id, "http://other.example")
    assert other.reserve_request(deadline) is None
    with container.current().redis() as client:
        client.delete(server.pause_key)
    assert server.reserve_request(deadline) is None
    wait = server.reserve_request(deadline)
    assert wait is not None
    assert wait <= deadline
    server.record_outcome(is_timeout=True)
    wait = server.reserve_request(deadline)
    assert wait is not None
    assert provider.FIRST_PAUSE < wait <= 2 * provider.FIRST_PAUSE
    server.record_outcome(is_timeout=False)
    assert server.reserve_request(deadline) is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("", 0), ("7", 7), ("9" * 5000, 600), ("-1", 0), ("Fri, 27 Nov 2026 20:00:00 GMT", 0)],
)
def test_the_wait_that_a_server_asks_for(value: str, seconds: int) -> None:
    assert provider._parse_retry_after(value) == seconds


def test_an_address_that_is_not_allowed_any_more(assisted_workspace: Workspace) -> None:
    assisted_workspace.sql(
        "UPDATE organizations SET settings = CAST(:settings AS jsonb) WHERE id = :id",
        settings='{"ai_provider": {"kind": "openai_compatible", "model": "m",'
        ' "base_url": "http://169.254.169.254/v1"}}',
        id=assisted_workspace.org.id,
    )
    _, shown = _predict(assisted_workspace)
    assert (shown["status"], shown["error"]["code"]) == ("failed", "address_refused")
