"""What labelers do with artifacts besides labeling, and artifacts that they do not get again."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import Select

from app.workflow.tag_sets.queries import skips as queries
from app.workflow.tag_sets.queries import statuses


def create_skip(artifact_id: UUID, user_id: UUID, reason: str) -> None:
    """Record that a user skipped a locked artifact, and remove the user from its assignees."""
    queries.skip(artifact_id, user_id, reason)


def delete_skip(artifact_id: UUID, user_id: UUID) -> bool:
    """Delete a user's skip of a locked artifact; return True if there was one.

    A draft that was returned to the user reserves the artifact again.
    """
    deleted = queries.unskip(artifact_id, user_id)
    if deleted:
        statuses.update([artifact_id])
    return deleted


def skip_rejected(labelers: Mapping[UUID, UUID], reason: str) -> None:
    """Skip artifacts for the labelers whose work on them was rejected to the pool.

    `labelers` is {artifact_id: user_id}; the artifacts are locked. The users are also removed from
    the artifacts' assignees.
    """
    queries.skip_rejected(labelers, reason)


def record_action(
    artifact_id: UUID,
    kind: str,
    *,
    by: UUID,
    tag_set_id: UUID | None = None,
    note: str | None = None,
) -> None:
    """Record that a user did something with an artifact: `skip`, `release` or `discard`."""
    queries.insert_action(artifact_id, kind, by=by, tag_set_id=tag_set_id, note=note)


def select_actions(artifact_id: UUID, *, by: UUID | None) -> Select[*tuple[Any, ...]]:
    """Return a SELECT of the actions on an artifact, with `by` of this user's alone.

    Columns: id, at, kind, user_id, user (an email address), tag_set_id, note.
    """
    return queries.select_actions(artifact_id, by)
