"""How documents reach people: assigned to them, or drawn by them."""

import heapq
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select

from app.identity.organizations import service as organizations
from app.identity.teams import service as teams
from app.kit import bulk, errors, events
from app.kit.errors import ApiError
from app.kit.principal import Caller
from app.labeling.artifacts import service as artifacts
from app.labeling.distribution.queries import giving as queries
from app.labeling.distribution.queries.giving import LISTED, Given, Share


def assign(
    artifact_id: UUID,
    *,
    by: UUID,
    user_ids: Sequence[UUID] | None = None,
    team_id: UUID | None = None,
    **due: datetime | None,
) -> Any:
    """Replace a document's assignees; `due_at`, where it is given, with them. Who works on the
    document keeps it until they are done with it.

    Emits `artifacts.assigned`. Raises 404; 400 on `user_ids.N` or `team_id`; 409 `conflict` with
    `details.state` where nothing is to label, unless the document is assigned to nobody.
    """
    assignees = _assignees(user_ids, team_id)
    given = _give(
        artifacts.by_ids([artifact_id]),
        assignees=assignees,
        due="due_at" in due,
        due_at=due.get("due_at"),
        closed_too=not assignees,
    )
    if given.matched == 0:
        raise errors.not_found()
    if given.written == 0:
        raise _closed(given.closed[0][1])
    _tell(given, by, user_ids or [], team_id, due.get("due_at"))
    return artifacts.get(artifact_id)


def bulk_assign(
    *,
    by: UUID,
    strategy: str,
    artifact_ids: Sequence[UUID] | None = None,
    filter: Mapping[str, Any] | None = None,  # noqa: A002 - the member's name
    expected_count: int | None = None,
    user_ids: Sequence[UUID] | None = None,
    team_id: UUID | None = None,
    **due: datetime | None,
) -> dict[str, Any]:
    """Assign many documents: each to all, or to one of the people, who get them in the order of
    urgency, by turns or by who has least to do.

    Emits `artifacts.assigned`. Raises 400 on `user_ids.N` or `team_id`; 409 `conflict` with
    `details.count` where the filter finds another number than expected. The outcome of a document
    that there is none of is `not_found`, of one that nothing is to label of `conflict`.
    """
    assignees = _assignees(user_ids, team_id)
    chosen = _chosen(artifact_ids, filter)
    spread = strategy != "everyone" and bool(assignees)
    shares: list[Share] = []
    if spread:
        limit = _limit(chosen, artifact_ids, expected_count)
        shares = _shares(user_ids, team_id, strategy, limit)
    given = _give(
        chosen,
        assignees=None if spread else assignees,
        shares=shares,
        due="due_at" in due,
        due_at=due.get("due_at"),
        expected=expected_count,
        closed_too=not assignees,
    )
    if expected_count is not None:
        _check_count(given.matched, expected_count)
    people = [one.user_id for one in shares if str(one.user_id) in given.people]
    told_team = None if spread else team_id
    _tell(given, by, people if spread else user_ids or [], told_team, due.get("due_at"))
    return _outcome(given, artifact_ids, closed_too=not assignees)


def claim_next(
    *,
    caller: Caller,
    schema_ids: Sequence[UUID] | None = None,
    team_id: UUID | None = None,
    language: str | None = None,
    exclude: Sequence[UUID] = (),
    skip_held: bool = False,
) -> Any | None:
    """Claim the caller's next document, or give them again the one that they hold; None when there
    is none for them.

    What a caller may not have, an unknown schema or another's team included, is just not found.
    """
    wish = artifacts.Wish(schema_ids, language, team_id, exclude, skip_held)
    minutes = organizations.claim_minutes(caller.org.settings)
    return artifacts.draw(caller.user_id, wish, minutes=minutes)


def _assignees(
    user_ids: Sequence[UUID] | None, team_id: UUID | None
) -> list[dict[str, str | None]]:
    """As a document holds them; who is named stays one until the transaction ends."""
    if team_id is not None:
        if not teams.existing([team_id]):
            raise errors.invalid("There is no such team.", "team_id")
        return [{"user_id": None, "team_id": str(team_id)}]
    people = list(dict.fromkeys(user_ids or ()))
    known = queries.labelers(people)
    for index, user_id in enumerate(user_ids or ()):
        if user_id not in known:
            raise errors.invalid("Must be a member who labels.", f"user_ids.{index}")
    return [{"user_id": str(user_id), "team_id": None} for user_id in people]


def _shares(
    user_ids: Sequence[UUID] | None, team_id: UUID | None, strategy: str, limit: int
) -> list[Share]:
    people = queries.labelers_of(team_id) if team_id else list(dict.fromkeys(user_ids or ()))
    if not people:
        raise errors.invalid("Nobody in the team labels.", "team_id")
    held = queries.loads(people) if strategy == "least_loaded" else dict.fromkeys(people, 0)
    return level([(user_id, held[user_id]) for user_id in people], limit)


def level(loads: Sequence[tuple[UUID, int]], count: int) -> list[Share]:
    """Spread `count` documents over people of different loads: each goes to the least loaded."""
    quotas = [0] * len(loads)
    waiting = [(load, place) for place, (_, load) in enumerate(loads)]
    heapq.heapify(waiting)
    for _ in range(count):
        load, place = waiting[0]
        quotas[place] += 1
        heapq.heapreplace(waiting, (load + 1, place))
    return [Share(user_id, load, quotas[n]) for n, (user_id, load) in enumerate(loads)]


def _limit(chosen: Select[Any], artifact_ids: Sequence[UUID] | None, expected: int | None) -> int:
    """How many turns there are at most. What is expected may be any number."""
    if expected is None:
        return len(artifact_ids or ())
    found = queries.count(chosen)
    _check_count(found, expected)
    return found


def _check_count(count: int, expected: int) -> None:
    if count != expected:
        raise errors.conflict(
            "The filter finds another number of documents than expected.", count=count
        )


def _give(chosen: Select[Any], **how: Any) -> Given:
    given = queries.give(chosen, **how)
    if given.resumed:
        # What was sent back to somebody waits for them again.
        artifacts.refresh_statuses(given.resumed)
    return given


def _chosen(artifact_ids: Sequence[UUID] | None, filters: Mapping[str, Any] | None) -> Select[Any]:
    if artifact_ids is not None:
        return artifacts.by_ids(artifact_ids)
    return artifacts.selected_ids(dict(filters or {}))


def _outcome(
    given: Given, artifact_ids: Sequence[UUID] | None, *, closed_too: bool
) -> dict[str, Any]:
    closed = {} if closed_too else {UUID(one): _closed(state) for one, state in given.closed}
    if artifact_ids is not None:
        found = [*map(UUID, given.given), *closed]
        return bulk.by_id(artifact_ids, {**closed, **bulk.missing(artifact_ids, found)})
    failed = given.matched - given.written
    return {
        **bulk.by_filter(given.matched, closed),
        "succeeded": given.written,
        "failed": failed,
    }


def _closed(state: str) -> ApiError:
    return errors.conflict(f"The document is {state}: nothing of it is to label.", state=state)


def _tell(
    given: Given,
    by: UUID,
    user_ids: Sequence[UUID],
    team_id: UUID | None,
    due_at: datetime | None,
) -> None:
    """One event for all, so that whoever is told is told once: `count` says of how many, the ids
    are left out beyond `LISTED`, `counts` says who got how many where they were spread."""
    if not given.written:
        return
    data = {
        "artifact_ids": given.given if given.written <= LISTED else [],
        "user_ids": list(dict.fromkeys(user_ids)),
        "team_ids": [team_id] if team_id else [],
        "count": given.written,
        "counts": given.people,
        "by": by,
        "due_at": due_at,
    }
    events.emit("artifacts.assigned", data)
