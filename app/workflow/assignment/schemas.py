"""Request bodies for assigning, claiming and releasing artifacts."""

from app.documents.artifacts.schemas.documents import ArtifactSelection
from app.kit.api.alternatives import AlternativesSchema
from app.kit.api.fields import Bool, Int, List, OneOf, Schema, Str, UtcDateTime, Uuid

MAX_ASSIGNEES = 100
MAX_EXCLUDED_ARTIFACTS = 50
STRATEGIES = ("everyone", "round_robin", "least_loaded")


class _Assignees(AlternativesSchema):
    """Assignees that replace the current assignees: either users or one team."""

    alternatives = (("user_ids",), ("team_id",))

    user_ids = List(
        Uuid(), max_items=MAX_ASSIGNEES, description="An empty list unassigns the artifact."
    )
    team_id = Uuid()
    due_at = UtcDateTime(
        allow_none=True,
        description=(
            "Null removes the due time. If this property is omitted, the due time does not change."
        ),
    )


class AssignArtifact(_Assignees):
    """Request body to replace the assignees of one artifact."""

    revision = Int()


class BulkAssignArtifacts(ArtifactSelection, _Assignees):
    """Request body to assign many artifacts.

    With the strategy `everyone`, each artifact is assigned to all users or to the team. With
    `round_robin` and `least_loaded`, each artifact is assigned to one user or one team member.
    """

    strategy = Str(
        validate=OneOf(STRATEGIES),
        load_default="everyone",
        description=(
            "`everyone` assigns each artifact to all assignees. `round_robin` assigns each artifact"
            " to the next user in rotation. `least_loaded` assigns each artifact to the user with"
            " the fewest open artifacts."
        ),
    )


class NextArtifact(Schema):
    """Claim criteria for the next artifact; every field is optional."""

    schema_ids = List(
        Uuid(), max_items=100, description="The artifact must have one of the listed schemas."
    )
    team_id = Uuid(
        description="The artifact must be assigned to this team. The caller must be a member of the"
        " team."
    )
    language = Str(max_length=35, description="The artifact must have this language.")
    exclude = List(
        Uuid(),
        max_items=MAX_EXCLUDED_ARTIFACTS,
        load_default=list,
        description=(
            "Ids of artifacts to exclude, such as artifacts that the client has prefetched."
        ),
    )
    skip_held = Bool(
        load_default=False, description="Exclude the artifacts that the caller has claimed."
    )


class ReleaseArtifact(Schema):
    """Request body to release an artifact, with an optional reason."""

    reason = Str(max_length=2000, allow_none=True, load_default=None)
