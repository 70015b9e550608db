"""Request and response schemas for teams."""

from typing import Unpack

from marshmallow import ValidationError

from app.identity.teams.models import MAX_DEPTH
from app.identity.teams.service import MAX_ADDED_MEMBERS
from app.identity.teams.skills import MAX_SKILL_LENGTH, MAX_SKILLS, normalize
from app.identity.users.schemas import UserSummary
from app.kit.api.fields import (
    Data,
    FieldOptions,
    Int,
    List,
    Name,
    Nested,
    OneOf,
    QueryBool,
    QueryInt,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)

ROLES = ("lead", "member")
_MEMBERS_METADATA = {"description": "Null in lists; get a single team to see its members."}


class Skill(Name):
    """A skill as free text; skills that differ only in case or spacing count as equal."""

    def __init__(self, **options: Unpack[FieldOptions]) -> None:
        super().__init__(max_length=MAX_SKILL_LENGTH, **options)

    def _deserialize(self, value: object, attr: str | None, data: Data, **options: object) -> str:
        text = normalize(super()._deserialize(value, attr, data, **options))
        if not text:
            raise ValidationError("Must not be blank.")
        return text


class CreateTeam(Schema):
    """Request body to create a team."""

    name = Name(required=True)
    parent_id = Uuid(allow_none=True)
    lead_id = Uuid(allow_none=True)
    skills = List(Skill(), max_items=MAX_SKILLS)
    description = Str(max_length=2000)


class UpdateTeam(CreateTeam):
    """Request body to update a team.

    A null `parent_id` moves the team to the top of the tree; a null `lead_id` removes the lead.
    """

    name = Name()
    revision = Int()


class NewTeamMember(Schema):
    """A user to add to a team, with an optional role."""

    user_id = Uuid(required=True)
    role = Str(validate=OneOf(ROLES))


class AddTeamMembers(Schema):
    """Request body to add team members: `members`, which may have roles, `user_ids`, or both."""

    members = List(Nested(NewTeamMember), max_items=MAX_ADDED_MEMBERS)
    user_ids = List(Uuid(), max_items=MAX_ADDED_MEMBERS)
    revision = Int(description="The revision of the team.")


class TeamFilters(Schema):
    """Query parameters that filter a list of teams."""

    q = Str(min_length=1, max_length=200, description="Part of the name.")
    parent_id = Uuid()
    root = QueryBool(
        description="True returns only teams without a parent, false only teams with a parent."
    )
    lead_id = Uuid()
    member = Uuid(description="The id of a member of the team.")
    skill = Str(min_length=1, max_length=MAX_SKILL_LENGTH)


class ChartQuery(Schema):
    """Query parameters that limit the organization chart."""

    team_id = Uuid(description="The team to start at; by default, all teams without a parent.")
    depth = QueryInt(minimum=1, maximum=MAX_DEPTH, description="The maximum number of levels.")
    members = QueryBool(load_default=True, description="Whether to list the teams' members.")


class TeamUser(UserSummary):
    """The user account of a team member."""


class TeamMember(Response):
    """A member of a team, with their role in the team."""

    user = Nested(TeamUser)
    role = Str(validate=OneOf(ROLES))
    joined_at = UtcDateTime()


class Team(Response):
    """A team with its members; the lead comes first."""

    id = Uuid()
    name = Str()
    parent_id = Uuid(allow_none=True)
    lead_id = Uuid(allow_none=True)
    skills = List(Str())
    description = Str()
    members = List(Nested(TeamMember))
    member_count = Int()
    created_at = UtcDateTime()
    updated_at = UtcDateTime()
    revision = Int()


class TeamSummary(Team):
    """A team in a list, without its members."""

    members = List(Nested(TeamMember), allow_none=True, metadata=_MEMBERS_METADATA)


class OrgChartTeam(Response):
    """A team in the organization chart.

    At the requested depth, `children` is empty, but `child_count` still counts the child teams.
    """

    id = Uuid()
    parent_id = Uuid(allow_none=True)
    name = Str()
    description = Str()
    skills = List(Str())
    lead_id = Uuid(allow_none=True)
    lead = Nested(TeamUser, allow_none=True)
    member_count = Int()
    child_count = Int()
    members = List(Nested(TeamMember))
    children = List(Nested("app.identity.teams.schemas.OrgChartTeam"))


class OrgChart(Response):
    """The organization chart: the requested teams as a tree."""

    teams = List(Nested(OrgChartTeam))
    team_count = Int()
    member_count = Int(
        description="The number of team members; a user who is in two teams counts twice."
    )
