"""Assignment of artifacts to users and teams on request."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from app.documents.artifacts import service as artifacts
from app.kit import bulk, errors
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
    """Replace an artifact's assignees and, if given, its `due_at`.

    A labeler who has claimed the artifact keeps the claim. Emits `artifacts.assigned`. Raises 404;
    400 on `user_ids.N` or `team_id`; 409 `stale_precondition`; 409 `conflict` with `details.state`
    if the artifact cannot be labeled, unless the call only removes the assignees.
    """
    giving = Giving(by=by, user_ids=user_ids, team_id=team_id, due=due)
    if revision is not None:
        giving.hold()  # Users are locked before artifacts.
        held = artifacts.lock(artifact_id)
        if held.revision != revision:
            raise errors.stale(held.revision)
    given = giving.write(artifacts.select_matching([artifact_id]))
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
    """Assign many artifacts and return the outcome of each.

    `everyone` assigns each artifact to all given users or to the team. The other strategies assign
    each artifact to one labeler: `round_robin` in turn, `least_loaded` to the labeler with the
    fewest open artifacts. With a filter, each batch of 1,000 artifacts runs in its own transaction
    (`bulk.in_batches`). Within a batch the most urgent artifacts are assigned first.

    Emits `artifacts.assigned` once per transaction. Raises 400 on `user_ids.N` or `team_id`; 409
    `conflict` with `details.count` if the filter does not match `expected_count` artifacts. The
    outcome is `not_found` for an artifact that does not exist, and `conflict` for an artifact that
    cannot be labeled or that changed in the meantime.
    """
    giving = Giving(by=by, strategy=strategy, user_ids=user_ids, team_id=team_id, due=due)
    if filter is None:
        ids = artifact_ids or ()
        return bulk.build_result(ids, giving.give(ids))
    giving.hold()
    # In the order of their ids: rows in order of urgency are far apart on disk (docs/decisions/0041).
    found = bulk.find(artifacts.select_ids(filter), expected=expected_count)
    return bulk.in_batches(found, lambda ids: giving.give(ids, filter))
