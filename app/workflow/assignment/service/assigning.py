"""Documents that are assigned to people and teams."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from app.documents.artifacts import service as artifacts
from app.kit import bulk, errors
from app.workflow.assignment.queries import distribution as queries
from app.workflow.assignment.service.distribution import Giving, closed


def assign(
    artifact_id: UUID,
    *,
    by: UUID,
    revision: int | None = None,
    user_ids: Sequence[UUID] | None = None,
    team_id: UUID | None = None,
    **due: datetime | None,
) -> Any:
    """Replace a document's assignees; `due_at`, where it is given, with them. Who works on the
    document keeps it until they are done with it.

    Emits `artifacts.assigned`. Raises 404; 400 on `user_ids.N` or `team_id`; 409
    `stale_precondition`, or `conflict` with `details.state` where nothing is to label, unless the
    document is assigned to nobody.
    """
    giving = Giving(by=by, user_ids=user_ids, team_id=team_id, due=due)
    if revision is not None:
        giving.hold()  # people are locked before documents
        held = artifacts.lock(artifact_id)
        if held.revision != revision:
            raise errors.stale(held.revision)
    given = giving.write(artifacts.by_ids([artifact_id]))
    if given.matched == 0:
        raise errors.not_found()
    if given.written == 0:
        raise closed(given.closed[0][1])
    giving.tell(given)
    return artifacts.get(artifact_id)


def bulk_assign(
    *,
    by: UUID,
    strategy: str,
    artifact_ids: Sequence[UUID] | None = None,
    filter: dict[str, Any] | None = None,  # noqa: A002 - the member's name
    expected_count: int | None = None,
    user_ids: Sequence[UUID] | None = None,
    team_id: UUID | None = None,
    **due: datetime | None,
) -> dict[str, Any]:
    """Assign many documents: each to all, or to one of the people, who get them in the order of
    urgency, by turns or by who has least to do.

    By filter each thousand is a transaction of its own (`bulk.in_batches`). Emits
    `artifacts.assigned` for each transaction. Raises 400 on `user_ids.N` or `team_id`; 409
    `conflict` with `details.count` where the filter finds another number than expected. The outcome
    of a document that there is none of is `not_found`, of one that nothing is to label of, or that
    changed meanwhile, `conflict`.
    """
    giving = Giving(by=by, strategy=strategy, user_ids=user_ids, team_id=team_id, due=due)
    if filter is None:
        ids = artifact_ids or ()
        return bulk.by_id(ids, giving.give(ids))
    giving.hold()
    order = queries.URGENCY if giving.spread else ()
    found = bulk.find(artifacts.selected_ids(filter), *order, expected=expected_count)
    return bulk.in_batches(found, lambda ids: giving.give(ids, filter))
