"""Assign, claim, reject and skip documents."""

from typing import Any
from uuid import UUID

import pytest

from tests.factories.workspace import Workspace
from tests.workflow.actions import get_data, reject

_INSERT_ARTIFACTS = """
INSERT INTO artifacts (organization_id, id, name, schema_id, metadata, priority, gold, archived,
    media_type, size_bytes, sha256, page_count, language, text_length, status, assignees,
    label_counts, created_at, updated_at, revision)
SELECT :org, gen_random_uuid(), 'document ' || n, :schema, '{}', 50, false, false, 'text/plain',
    100, md5(:org || n) || md5(n || :org), 1, 'en', 100, 'ready', CAST(:assignees AS jsonb),
    '{"draft": 0, "submitted": 0, "accepted": 0, "rejected": 0}', now(), now(), 1
FROM generate_series(1, :number) AS n
"""


@pytest.fixture
def second(workspace: Workspace) -> UUID:
    """Add another labeler, named `second`, and return the user's id."""
    return workspace.org.add_user("second", "labeler")


def claim_next(workspace: Workspace, by: str = "labeler", **criteria: Any) -> UUID | None:
    """Claim the next document, and return its id, or None if there is none."""
    answer = workspace.org.api(by).post("/artifacts/next", json=criteria)
    assert answer.status_code == 200, answer.json
    artifact = answer.json["data"]
    if artifact is None:
        return None
    assert artifact["claim"]["user_id"] == str(workspace.org.users[by])
    return UUID(artifact["id"])


def to(**assignee: Any) -> list[dict[str, Any]]:
    return [{"user_id": None, "team_id": None, **{k: str(v) for k, v in assignee.items()}}]


def get_user_ids(workspace: Workspace, *names: str) -> list[str]:
    return [str(workspace.org.users[name]) for name in names]


def assign(workspace: Workspace, artifact_id: Any, *, by: str = "reviewer", **body: Any) -> Any:
    """Assign a document, and return the response."""
    return workspace.org.api(by).post(f"/artifacts/{artifact_id}/assign", json=body)


def get_assignees(workspace: Workspace, artifact_id: Any) -> Any:
    """Return the assignees of a document."""
    return workspace.org.api("viewer").get(f"/artifacts/{artifact_id}").json["data"]["assignees"]


def get_reserved_for(workspace: Workspace, artifact_id: Any) -> list[UUID]:
    """Return the ids of the users for whom a document is reserved."""
    statement = "SELECT reserved_for FROM artifacts WHERE id = :id"
    return list(workspace.sql(statement, id=str(artifact_id))[0].reserved_for)


def insert_artifacts(
    workspace: Workspace, schema_id: UUID, number: int, *, assignees: str = "[]"
) -> None:
    """Insert `number` ready documents in English; `assignees` is JSON."""
    values = {"org": str(workspace.org.id), "schema": str(schema_id), "number": number}
    workspace.sql(_INSERT_ARTIFACTS, assignees=assignees, **values)


def expire(workspace: Workspace, artifact_id: UUID) -> None:
    workspace.sql(
        "UPDATE artifacts SET claim_expires_at = now() - interval '1 second' WHERE id = :id",
        id=artifact_id,
    )


def reject_to(workspace: Workspace, tag_set: dict[str, Any], send_to: str) -> None:
    """Reject a tag set; `send_to` is `pool`, `labeler` or a user id."""
    get_data(reject(workspace, tag_set, send_to=send_to))


def skip(workspace: Workspace, artifact_id: UUID | None, by: str = "labeler") -> None:
    path = f"/artifacts/{artifact_id}/release"
    answer = workspace.org.api(by).post(path, json={"reason": "Not mine"})
    assert answer.status_code == 200, answer.json
