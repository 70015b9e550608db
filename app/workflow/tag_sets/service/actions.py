"""User actions on artifacts that no other record holds: skips, releases, discarded drafts."""

from typing import Any
from uuid import UUID

from app.workflow.tag_sets.queries import actions as queries


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


def select_actions(artifact_id: UUID, *, by: UUID | None) -> Any:
    """Return a SELECT of the actions on an artifact, with `by` of this user's alone.

    Columns: id, at, kind, user_id, user (an email address), tag_set_id, note.
    """
    return queries.select_actions(artifact_id, by)
