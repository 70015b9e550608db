"""Fixtures: a workspace with AI assistance, and a model server in a separate process."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.factories import Org, run_jobs_of
from tests.factories.labels import make_field
from tests.factories.orgs import get_data
from tests.factories.workspace import Workspace

FIELDS = [
    make_field("number", "text"),
    make_field("total", "money"),
    make_field("issued", "date"),
    make_field("paid", "boolean"),
    make_field("lines", "table", columns=[make_field("item", "text")]),
]
LEARNED_FIELDS = [make_field("number", "text"), make_field("total", "money")]
TEXT = "ACME Ltd\nInvoice number: A-17\nDate: 3 March 2026\nAnchor\nRope\nTotal: EUR 1,250.50\n"
SERVER = Path(__file__).with_name("model_server.py")


@pytest.fixture
def assisted_workspace(org: Org) -> Workspace:
    """Return a workspace; `schema_id` is a schema with AI assistance."""
    return build_assisted_workspace(org, FIELDS)


@pytest.fixture
def trainable_workspace(org: Org) -> Workspace:
    """Return a workspace; `schema_id` is a schema with AI assistance that models can learn."""
    return build_assisted_workspace(org, LEARNED_FIELDS)


def build_assisted_workspace(org: Org, fields: list[dict[str, Any]]) -> Workspace:
    """Return a workspace; `schema_id` is a schema with AI assistance and these fields."""
    workspace = Workspace(org)
    workspace.schema_id = workspace.schema(fields=fields)  # type: ignore[attr-defined]
    set_assistance(workspace, enabled=True)
    return workspace


def set_assistance(workspace: Workspace, *, enabled: bool) -> None:
    """Turn the AI assistance of the workspace's schema on or off."""
    workspace.sql(
        "UPDATE schemas SET ai_assist_enabled = :enabled WHERE id = :id",
        enabled=enabled,
        id=workspace.schema_id,  # type: ignore[attr-defined]
    )


def create_document(workspace: Workspace, text: str = TEXT, **members: Any) -> str:
    """Create a document of the assisted schema with the API, and return its id."""
    body = {
        "name": "invoice.txt",
        "text": text,
        "schema_id": str(workspace.schema_id),  # type: ignore[attr-defined]
        **members,
    }
    data = get_data(workspace.org.api("labeler").post("/artifacts", body), 201)
    run_jobs_of(workspace.org, "routing", "default")
    return str(data["id"])


def predict(workspace: Workspace, artifact_id: str, *, by: str = "labeler") -> Any:
    """Request a prediction, and return the response."""
    return workspace.org.api(by).post(f"/artifacts/{artifact_id}/predict")


def show_prediction(workspace: Workspace, artifact_id: str) -> Any:
    """Return the prediction in an artifact, or None if it has no prediction."""
    answer = workspace.org.api("viewer").get(f"/artifacts/{artifact_id}")
    return answer.json["data"]["prediction"]


@pytest.fixture
def use_server(assisted_workspace: Workspace) -> Iterator[Callable[[str], None]]:
    """Return a function that starts a model server, and sets it as the organization's provider."""
    started: list[subprocess.Popen[str]] = []

    def start(behavior: str) -> None:
        process = subprocess.Popen(
            [sys.executable, str(SERVER), behavior], stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        port = int(process.stdout.readline())
        provider = {
            "kind": "openai_compatible",
            "base_url": f"http://127.0.0.2:{port}/v1",
            "model": "small",
            "api_key": "sk-right",
        }
        path = f"/organizations/{assisted_workspace.org.slug}"
        get_data(
            assisted_workspace.org.api("admin").patch(path, {"settings": {"ai_provider": provider}})
        )

    yield start
    for process in started:
        process.kill()
        process.communicate()
