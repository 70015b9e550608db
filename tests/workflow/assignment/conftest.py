"""Claim, reject and skip documents."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from tests.factories import Org
from tests.factories.workspace import Workspace

ClaimNext = Callable[..., UUID | None]


@pytest.fixture
def claim_next(org: Org) -> ClaimNext:
    """Return a function that claims the next document and returns its id, or None."""

    def claim(by: str = "labeler", **criteria: Any) -> UUID | None:
        answer = org.api(by).post("/artifacts/next", json=criteria)
        assert answer.status_code == 200, answer.json
        artifact = answer.json["data"]
        if artifact is None:
            return None
        assert artifact["claim"]["user_id"] == str(org.users[by])
        return UUID(artifact["id"])

    return claim


def to(**assignee: Any) -> list[dict[str, Any]]:
    return [{"user_id": None, "team_id": None, **{k: str(v) for k, v in assignee.items()}}]


def expire(workspace: Workspace, artifact_id: UUID) -> None:
    workspace.sql(
        "UPDATE artifacts SET claim_expires_at = now() - interval '1 second' WHERE id = :id",
        id=artifact_id,
    )


def reject(workspace: Workspace, sent: dict[str, Any], send_to: str) -> None:
    body = {"reason": "Look again", "send_to": send_to}
    answer = workspace.org.api("reviewer").post(f"/tag-sets/{sent['id']}/reject", json=body)
    assert answer.status_code == 200, answer.json


def skip(workspace: Workspace, artifact_id: UUID | None, by: str = "labeler") -> None:
    path = f"/artifacts/{artifact_id}/release"
    answer = workspace.org.api(by).post(path, json={"reason": "Not mine"})
    assert answer.status_code == 200, answer.json
