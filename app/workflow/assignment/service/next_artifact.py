"""The next artifact that a labeler should work on."""

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
    """Claim the caller's next artifact and return it; None when there is none for them.

    An unknown schema or a team that is not the caller's matches nothing. The order is:

    1. what the caller has claimed (not with `skip_held`),
    2. what they have begun or what was returned to them,
    3. what is assigned to them by name,
    4. what is assigned to their teams,
    5. what is assigned to nobody,

    each by priority, then by due time or, without one, by age. The schema is active and requires
    one more tag set, and none by the caller. Nobody else has claimed the artifact, and it is not
    reserved for others. Unless it is assigned to the caller by name, their teams have the skills
    that the schema requires, and they did not skip it.
    """
    criteria = ClaimCriteria(schema_ids, language, team_id, exclude, skip_held)
    minutes = organizations.claim_minutes(caller.org.settings)
    # Claims that expired this second, and artifacts that others have locked at this instant, are
    # tried when there is nothing else.
    claimed = queries.claim_next(caller.user_id, criteria, minutes=minutes, leftover=False)
    return claimed or queries.claim_next(caller.user_id, criteria, minutes=minutes, leftover=True)
