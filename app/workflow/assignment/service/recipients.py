"""Validation and locking of the users or the team to which work is assigned."""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from heapq import heapify, heappop, heappush, heapreplace
from uuid import UUID

from app.identity.members.eligibility import lock_eligible_members, lock_eligible_team_members
from app.identity.teams import service as teams
from app.kit import errors
from app.kit.errors import ApiError
from app.kit.permissions import Role

_VERB_BY_ROLE = {Role.labeler: "label", Role.reviewer: "review"}


def lock_users(user_ids: Sequence[UUID], role: Role) -> list[UUID]:
    """Lock users, so that they stay eligible until the transaction ends, and return their ids.

    Duplicate ids are removed. Raises 400 on `user_ids.N` if a user is not an eligible member with
    at least `role`; `details.user_ids` lists all ineligible users.
    """
    eligible_ids = lock_eligible_members(user_ids, role)
    ineligible_ids = [user_id for user_id in user_ids if user_id not in eligible_ids]
    if ineligible_ids:
        raise errors.invalid(
            f"Must be the id of a member who can {_VERB_BY_ROLE[role]}.",
            f"user_ids.{user_ids.index(ineligible_ids[0])}",
            user_ids=ineligible_ids,
        )
    return list(dict.fromkeys(user_ids))


def lock_team_members(team_id: UUID, role: Role) -> list[UUID]:
    """Lock a team and its eligible members with at least `role`; return the members' sorted ids.

    The locks are held until the transaction ends. Raises 400 if the team does not exist.
    """
    # Members are locked before teams, as in the removal of a member.
    member_ids = lock_eligible_team_members(team_id, role)
    lock_team(team_id)
    return member_ids


def lock_team(team_id: UUID) -> None:
    """Lock a team against deletion until the transaction ends. Raises 400 if it does not exist."""
    if not teams.lock_existing_teams([team_id]):
        raise errors.invalid("Must be the id of a team.", "team_id")


def build_no_member_error(role: Role) -> ApiError:
    """Build the 400 error for a team that has no eligible member with at least `role`."""
    return errors.invalid(f"The team has no member who can {_VERB_BY_ROLE[role]}.", "team_id")


class RecipientPool:
    """A heap of users, ordered by load and then by their order in `user_ids`.

    The caller increments `loads`, which may be shared with other pools. Loads only grow, so an
    outdated heap entry has a load that is too small. Such an entry reaches the top of the heap
    early, and is corrected there.
    """

    def __init__(self, user_ids: Sequence[UUID], loads: Counter[UUID]) -> None:
        self._loads = loads
        self._heap = [
            (loads[user_id], position, user_id) for position, user_id in enumerate(user_ids)
        ]
        heapify(self._heap)

    def find_least_loaded(
        self, excluded_ids: AbstractSet[UUID | None] = frozenset()
    ) -> UUID | None:
        """Return the id of the least loaded user who is not excluded, or None if there is none."""
        excluded_entries = []
        user_id = self._find_first()
        while user_id is not None and user_id in excluded_ids:
            excluded_entries.append(heappop(self._heap))
            user_id = self._find_first()
        for entry in excluded_entries:
            heappush(self._heap, entry)
        return user_id

    def _find_first(self) -> UUID | None:
        while self._heap:
            load, position, user_id = self._heap[0]
            if load == self._loads[user_id]:
                return user_id
            heapreplace(self._heap, (self._loads[user_id], position, user_id))
        return None
