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
        Uuid(),
        max_items=MAX_ASSIGNEES,
        metadata={"description": "An empty list leaves the artifact unassigned."},
    )
    team_id = Uuid()
    due_at = UtcDateTime(
        allow_none=True,
        metadata={"description": "Due time; null removes it. If omitted, it does not change."},
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
            "description": "`round_robin` assigns in turn, `least_loaded` to the user with"
            " the fewest open artifacts."
        },
    )


class NextArtifact(Schema):
    """Claim criteria for the next artifact; every field is optional."""

    schema_ids = List(Uuid(), max_items=100, description="Only artifacts of one of these schemas.")
    team_id = Uuid(description="Only artifacts that are assigned to this team of the caller.")
    language = Str(max_length=35)
    exclude = List(
        Uuid(),
        max_items=MAX_HELD,
        load_default=list,
        description="Artifacts to leave out, such as those that the client has prefetched.",
    )
    skip_held = Bool(
        load_default=False, description="Leave out the artifacts that the caller has claimed."
    )


class ReleaseArtifact(Schema):
    """Request body to release an artifact, with an optional reason."""

    reason = Str(max_length=2000, allow_none=True, load_default=None)
