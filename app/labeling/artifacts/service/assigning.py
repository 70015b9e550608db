"""Who documents are assigned to."""

from collections.abc import Callable
from uuid import UUID

from app.labeling.artifacts.queries import assigning as queries


def unassign(assignee_id: UUID, checkpoint: Callable[[], None]) -> int:
    """Take a team or a user that is gone off every document; how many there were.

    What nobody else is assigned to is in the pool again. `checkpoint` is called between batches.
    """
    total = 0
    while done := queries.unassign(assignee_id):
        total += done
        checkpoint()
    return total
