"""The rules for who may review a tag set now."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Protocol
from uuid import UUID

from app.kit import errors
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.workflow.tag_sets.queries import deciding
from app.workflow.tag_sets.service import rules


class InReview(Protocol):
    """The columns that these rules read of a tag set; `claimed_by` has a live claim."""

    @property
    def labeler_id(self) -> UUID | None:
        """The labeler, if there is one."""

    @property
    def makers(self) -> Sequence[UUID]:
        """The labelers of the tag set or of the merge's sources."""

    @property
    def claimed_by(self) -> UUID | None:
        """The reviewer with a live claim."""

    @property
    def claim_expires_at(self) -> datetime | None:
        """When the claim expires."""

    @property
    def assignee_id(self) -> UUID | None:
        """The assigned user."""

    @property
    def assignee_team_id(self) -> UUID | None:
        """The assigned team."""


def check_review(
    caller: Caller,
    tag_set: InReview,
    *,
    teams: AbstractSet[UUID] | None = None,
    take_over: bool = False,
) -> None:
    """Raise unless the caller may review the tag set now.

    403 on the caller's own, or a merge of the caller's own. 409 `conflict` with `details.claim`
    while another reviewer has claimed it; with `take_over` admins may go on. 409 with `assignee_id`
    or `assignee_team_id` when it is assigned to others and the caller is no admin. `teams` are the
    caller's teams; None looks them up.
    """
    rules.check_reviewer(caller, tag_set)
    admin = caller.has(Role.admin)
    if tag_set.claimed_by not in (None, caller.user_id) and not (take_over and admin):
        claim = {"user_id": tag_set.claimed_by, "expires_at": tag_set.claim_expires_at}
        raise errors.conflict("Another reviewer has claimed this tag set.", claim=claim)
    if admin:
        return
    if tag_set.assignee_id is not None:
        if tag_set.assignee_id != caller.user_id:
            raise errors.conflict(
                "The review is assigned to another user.", assignee_id=tag_set.assignee_id
            )
    elif tag_set.assignee_team_id is not None:
        own_teams = deciding.list_team_ids(caller.user_id) if teams is None else teams
        if tag_set.assignee_team_id not in own_teams:
            raise errors.conflict(
                "The review is assigned to another team.", assignee_team_id=tag_set.assignee_team_id
            )
