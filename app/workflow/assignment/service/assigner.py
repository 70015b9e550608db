"""The component that assigns work: artifacts to labelers, and tag sets to reviewers."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import ClassVar, Generic, TypeAlias, TypeVar
from uuid import UUID

from app.kit.errors import ApiError
from app.kit.permissions import Role
from app.workflow.assignment.service import recipients
from app.workflow.assignment.service.recipients import RecipientPool

RowT = TypeVar("RowT")
Choices: TypeAlias = dict[UUID, list[UUID]]
"""The ids of the chosen users by row id. Rows that cannot be assigned to anyone are omitted."""


class Assigner(ABC, Generic[RowT]):
    """Assigns the rows (artifacts or tag sets) of one request to users or to a team.

    The request can take several transactions; the recipients' loads are kept from one transaction
    to the next.
    """

    role: ClassVar[Role]

    def __init__(self, user_ids: Sequence[UUID], team_id: UUID | None) -> None:
        self._user_ids = user_ids
        self._team_id = team_id
        self._recipient_ids: list[UUID] = []
        self._loads: Counter[UUID] = Counter()

    def lock_recipients(self) -> None:
        """Validate the users or the team, and lock them until the transaction ends.

        Recipients are locked before rows. Raises 400 if a user is not an eligible member with at
        least `role`, or if the team does not exist or has no such member.
        """
        if self._team_id is None:
            self._recipient_ids = recipients.lock_users(self._user_ids, self.role)
            return
        self._recipient_ids = recipients.lock_team_members(self._team_id, self.role)
        if not self._recipient_ids:
            raise recipients.build_no_member_error(self.role)

    def assign(self, rows: Mapping[UUID, RowT]) -> dict[UUID, ApiError]:
        """Assign locked rows, and return {row id: error} for the rows that are not assigned.

        Emits events for new assignments, but not for rows that are already assigned as requested.
        """
        choices = self._choose_users(rows)
        assigned_rows = {id_: row for id_, row in rows.items() if id_ in choices}
        new_ids = self._assign_rows(assigned_rows, choices) if assigned_rows else []
        if new_ids:
            self._emit_assigned(new_ids, choices)
        return {id_: self._build_error(row) for id_, row in rows.items() if id_ not in choices}

    def _distribute(self, excluded_ids: Mapping[UUID, AbstractSet[UUID | None]]) -> Choices:
        """Choose one recipient for each row: the least loaded one that is not excluded.

        `excluded_ids` maps the row ids, in the order of assignment, to the ids of excluded users.
        """
        pool = RecipientPool(self._recipient_ids, self._loads)
        choices = {}
        for row_id, excluded_user_ids in excluded_ids.items():
            user_id = pool.find_least_loaded(excluded_user_ids)
            if user_id is not None:
                self._loads[user_id] += 1
                choices[row_id] = [user_id]
        return choices

    @abstractmethod
    def _choose_users(self, rows: Mapping[UUID, RowT]) -> Choices:
        """Choose the users for each row. An empty list assigns the row to the team or to nobody."""

    @abstractmethod
    def _assign_rows(self, rows: Mapping[UUID, RowT], choices: Choices) -> list[UUID]:
        """Write the assignments, and return the ids of the rows whose assignment is new."""

    @abstractmethod
    def _emit_assigned(self, row_ids: Sequence[UUID], choices: Choices) -> None:
        """Emit the events for new assignments."""

    @abstractmethod
    def _build_error(self, row: RowT, /) -> ApiError:
        """Build the error for a row that cannot be assigned to any recipient."""
