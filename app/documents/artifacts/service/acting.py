"""What people did with documents that no other record tells."""

from typing import Any
from uuid import UUID

from app.documents.artifacts.queries import acting as queries


def note_discard(artifact_id: UUID, tag_set_id: UUID, *, by: UUID) -> None:
    """Keep that somebody discarded a draft: nothing else is left of it."""
    queries.note(artifact_id, "discard", by=by, tag_set_id=tag_set_id, note=None)


def acts(artifact_id: UUID, *, by: UUID | None) -> Any:
    """A SELECT, for another statement, of what was done with a document (`ArtifactAct`): id, at,
    kind, user_id, user (an e-mail address), tag_set_id and note; with `by` what this user did."""
    return queries.acts(artifact_id, by)
