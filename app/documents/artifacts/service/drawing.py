"""The draw: which document somebody labels next."""

from typing import Any
from uuid import UUID

from app.documents.artifacts.queries import drawing as queries
from app.documents.artifacts.queries.drawing import Wish

__all__ = ["Wish", "draw"]


def draw(user_id: UUID, wish: Wish, *, minutes: int) -> Any | None:
    """Claim the next document for a user, or give them again the one that they hold; None when
    there is none for them.

    First what they hold (not with `wish.skip_held`), then what they have begun or was sent back to
    them, what is assigned to them, to their teams, to nobody; each by priority, then by when it is
    due or, without, by age. The schema is active and wants one more label set, and none of theirs;
    nobody else holds the document, it is not reserved for others, and, unless it is assigned to
    them by name, the schema's skills are among those of their teams, and they did not skip it.
    `minutes` is how long the claim lasts.
    """
    # What has just run out waits seconds for the clean-up, and is looked for when all else is gone:
    # or is in the hands of others at this instant, as when many documents are changed at once.
    found = queries.draw(user_id, wish, minutes=minutes, leftover=False)
    return found or queries.draw(user_id, wish, minutes=minutes, leftover=True)
