"""Documents that people ask for."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from app.documents.artifacts import service as artifacts
from app.identity.organizations import service as organizations
from app.kit.principal import Caller


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
