"""Who may review a label set now: not its labeler, nor anybody while it is in other hands."""

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
    """What these rules read of a label set that waits for review. `claimed_by` is who holds a live
    claim."""

    @property
    def labeler_id(self) -> UUID | None: ...

    @property
    def makers(self) -> Sequence[UUID]: ...

    @property
    def claimed_by(self) -> UUID | None: ...

    @property
    def claim_expires_at(self) -> datetime | None: ...

    @property
    def assignee_id(self) -> UUID | None: ...

    @property
    def assignee_team_id(self) -> UUID | None: ...


def check_review(
    caller: Caller,
    held: InReview,
    *,
    teams: AbstractSet[UUID] | None = None,
    take_over: bool = False,
) -> None:
    """Raise unless the caller may review the label set now.

    403 on one's own, or a merge of one's own; 409 `conflict` with `details.claim` while another
    reviewer holds it (with `take_over` not for admins), with `assignee_id` or `assignee_team_id`
    when it is assigned to others and the caller is no admin. `teams` are the caller's, looked up
    if need be.
    """
    rules.check_reviewer(caller, held)
    admin = caller.has(Role.admin)
    if held.claimed_by not in (None, caller.user_id) and not (take_over and admin):
        claim = {"user_id": held.claimed_by, "expires_at": held.claim_expires_at}
        raise errors.conflict("Another reviewer is working on this label set.", claim=claim)
    if admin:
        return
    if held.assignee_id is not None:
        if held.assignee_id != caller.user_id:
            raise errors.conflict(
                "The review is assigned to somebody else.", assignee_id=held.assignee_id
            )
    elif held.assignee_team_id is not None:
        theirs = deciding.teams_of(caller.user_id) if teams is None else teams
        if held.assignee_team_id not in theirs:
            raise errors.conflict(
                "The review is assigned to another team.", assignee_team_id=held.assignee_team_id
            )
