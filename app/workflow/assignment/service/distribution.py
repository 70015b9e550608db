"""Distribution of artifacts to all given assignees or to one labeler each."""

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select

from app.documents.artifacts import service as artifacts
from app.identity.members.eligibility import lock_eligible
from app.identity.teams import service as teams
from app.kit import bulk, errors, events
from app.kit.errors import ApiError
from app.kit.permissions import Role
from app.workflow.assignment.queries import distribution as queries
from app.workflow.assignment.queries.distribution import Given, Share
from app.workflow.tag_sets import service as tag_sets


class Giving:
    """Assignment of one request, which may span several transactions.

    The number of artifacts per labeler is carried over from one transaction to the next.
    """

    def __init__(
        self,
        *,
        by: UUID,
        user_ids: Sequence[UUID] | None,
        team_id: UUID | None,
        due: Mapping[str, datetime | None],
        strategy: str = "everyone",
    ) -> None:
        self.spread = strategy != "everyone" and user_ids != []
        self._by = by
        self._user_ids = list(dict.fromkeys(user_ids or ()))
        self._asked = user_ids or ()
        self._team_id = team_id
        self._due = due
        self._least = strategy == "least_loaded"
        self._loads: Counter[UUID] | None = None

    @property
    def closed_too(self) -> bool:
        """Return True if the request only removes assignees, which is allowed in every state."""
        return self._team_id is None and not self._user_ids

    def hold(self) -> None:
        """Validate the assignees and lock them until the transaction ends.

        Raises 400 on `user_ids.N` or `team_id`.
        """
        if self._team_id is not None:
            if not teams.lock_existing([self._team_id]):
                raise errors.invalid("Must be the id of a team.", "team_id")
            return
        known = lock_eligible(self._user_ids, Role.labeler)
        for index, user_id in enumerate(self._asked):
            if user_id not in known:
                raise errors.invalid("Must be a member who can label.", f"user_ids.{index}")

    def give(
        self, artifact_ids: Sequence[UUID], filters: dict[str, Any] | None = None
    ) -> dict[UUID, ApiError]:
        """Assign artifacts, emit the event, and return the errors by artifact id.

        With `filters`, only artifacts that still match are assigned. Emits `artifacts.assigned`.
        Raises the same errors as `hold`.
        """
        given = self.write(artifacts.select_matching(artifact_ids, filters), len(artifact_ids))
        self.tell(given)
        shut = {} if self.closed_too else {UUID(one): closed(state) for one, state in given.closed}
        missed = bulk.find_missing(artifact_ids, [*map(UUID, given.given), *shut])
        return shut | (missed if filters is None else artifacts.explain_missing(missed))

    def write(self, chosen: Select[Any], limit: int = 1) -> Given:
        """Assign at most `limit` selected artifacts. Raises the same errors as `hold`."""
        self.hold()
        given = queries.give(
            chosen,
            assignees=None if self.spread else self._assignees(),
            shares=self._shares(limit) if self.spread else (),
            due="due_at" in self._due,
            due_at=self._due.get("due_at"),
            closed_too=self.closed_too,
        )
        if given.resumed:
            # Drafts returned to a labeler who had skipped the artifact are pending again.
            tag_sets.update_statuses(given.resumed)
        return given

    def tell(self, given: Given) -> None:
        """Emit `artifacts.assigned` for artifacts whose assignment is new.

        In the payload, `count` is the number of artifacts. `counts` is the number per user if each
        artifact was assigned to one labeler.
        """
        if given.changed:
            events.emit("artifacts.assigned", self._told(given))
        if self._loads is not None:
            self._loads.update({UUID(one): number for one, number in given.people.items()})

    def _assignees(self) -> list[dict[str, str | None]]:
        """Return the assignees in the format of `Artifact.assignees`."""
        if self._team_id is not None:
            return [{"user_id": None, "team_id": str(self._team_id)}]
        return [{"user_id": str(one), "team_id": None} for one in self._user_ids]

    def _shares(self, limit: int) -> list[Share]:
        people = queries.labelers_of(self._team_id) if self._team_id else self._user_ids
        if not people:
            raise errors.invalid("The team has no member who can label.", "team_id")
        if self._loads is None:
            self._loads = Counter(queries.loads(people) if self._least else {})
        return level([(user_id, self._loads[user_id]) for user_id in people], limit)

    def _told(self, given: Given) -> dict[str, Any]:
        counts, user_ids = given.shares, list(map(str, self._user_ids))
        if self.spread:
            user_ids = sorted(counts) if self._team_id else [u for u in user_ids if u in counts]
        return {
            "artifact_ids": given.news,
            "user_ids": user_ids,
            "team_ids": [self._team_id] if self._team_id and not self.spread else [],
            "count": given.changed,
            "counts": counts,
            "by": self._by,
            "due_at": self._due.get("due_at"),
        }


def level(loads: Sequence[tuple[UUID, int]], count: int) -> list[Share]:
    """Return quotas that assign `count` artifacts one by one to the least loaded user.

    `loads` is a list of (user id, number of open artifacts).
    """
    quotas = [0] * len(loads)
    waiting = [(load, place) for place, (_, load) in enumerate(loads)]
    heapq.heapify(waiting)
    for _ in range(count):
        load, place = waiting[0]
        quotas[place] += 1
        heapq.heapreplace(waiting, (load + 1, place))
    return [Share(user_id, load, quotas[n]) for n, (user_id, load) in enumerate(loads)]


def closed(state: str) -> ApiError:
    """Return the error for an artifact that cannot be labeled in its state."""
    return errors.conflict(f"This document is {state}; it cannot be labeled.", state=state)
