"""Request bodies of assignment and claims."""

from app.documents.artifacts.schemas.bulk import ArtifactSelection
from app.kit.api.alternatives import AlternativesSchema
from app.kit.api.fields import Bool, Int, List, OneOf, Schema, Str, UtcDateTime, Uuid

MAX_ASSIGNEES = 100
MAX_HELD = 50
STRATEGIES = ("everyone", "round_robin", "least_loaded")


class _Assignees(AlternativesSchema):
    """Assignees that replace the current ones: either users or one team."""

    alternatives = (("user_ids",), ("team_id",))

    user_ids = List(
        Uuid(), max_items=MAX_ASSIGNEES, metadata={"description": "Nobody, if it is empty."}
    )
    team_id = Uuid()
    due_at = UtcDateTime(
        allow_none=True,
        metadata={"description": "Until when; null for no time. Stays as it is without."},
    )


class AssignArtifact(_Assignees):
    """Request body to assign one artifact."""

    revision = Int()


class BulkAssignArtifacts(ArtifactSelection, _Assignees):
    """Request body to assign many artifacts.

    With `everyone`, each artifact is assigned to all given users or to the team. With `round_robin`
    and `least_loaded`, each artifact is assigned to one of the users or one member of the team.
    """

    strategy = Str(
        validate=OneOf(STRATEGIES),
        load_default="everyone",
        metadata={
            "description": "round_robin: by turns; least_loaded: to who has least open documents."
        },
    )


class NextArtifact(Schema):
    """Claim criteria for the next artifact; every field is optional."""

    schema_ids = List(Uuid(), max_items=100, metadata={"description": "Of one of these schemas."})
    team_id = Uuid(metadata={"description": "Assigned to this team of the caller's."})
    language = Str(max_length=35)
    exclude = List(
        Uuid(),
        max_items=MAX_HELD,
        load_default=list,
        metadata={"description": "None of these: what a client that looks ahead has got already."},
    )
    skip_held = Bool(
        load_default=False,
        metadata={"description": "Another one than those that the caller holds."},
    )


class ReleaseArtifact(Schema):
    """Request body to release an artifact, with an optional reason."""

    reason = Str(max_length=2000, allow_none=True, load_default=None)
