"""Claiming of the next artifact that a labeler should work on."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from app.identity.organizations import service as organizations
from app.kit.principal import Caller
from app.workflow.assignment.queries import next_artifact as queries
from app.workflow.assignment.queries.next_artifact import ClaimCriteria


def claim_next(
    *,
    caller: Caller,
    schema_ids: Sequence[UUID] | None = None,
    team_id: UUID | None = None,
    language: str | None = None,
    exclude: Sequence[UUID] = (),
    skip_held: bool = False,
) -> Any | None:
    """Claim the caller's next artifact and return it, or None if no artifact matches.

    An unknown schema, or a team that the caller is not a member of, matches no artifact. Artifacts
    are claimed in this order, each group by priority, then by due time or, without a due time, by
    age:

    1. artifacts that the caller has claimed (not with `skip_held`),
    2. artifacts with a draft by the caller, new or returned,
    3. artifacts assigned to the caller by name,
    4. artifacts assigned to the caller's teams,
    5. artifacts without assignees.

    The schema must be active and require another tag set, and the caller must not have submitted a
    tag set. The artifact must not be claimed by, or reserved for, other users. Unless the artifact
    is assigned to the caller by name, the caller's teams must have the skills that the schema
    requires, and the caller must not have skipped the artifact.
    """
    criteria = ClaimCriteria(schema_ids, language, team_id, exclude, skip_held)
    minutes = organizations.get_claim_minutes(caller.org.settings)
    # The second query also finds artifacts whose expired claim is not cleared yet, and artifacts
    # beyond many locked ones. It is slower, so it runs only if the first query finds nothing.
    claimed = queries.claim_next(caller.user_id, criteria, minutes=minutes, leftover=False)
    return claimed or queries.claim_next(caller.user_id, criteria, minutes=minutes, leftover=True)
