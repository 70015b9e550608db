"""Request and response schemas for members."""

from app.identity.users.schemas import UserSummary
from app.kit.api.fields import Int, List, Nested, OneOf, Response, Schema, Str, UtcDateTime, Uuid
from app.kit.permissions import Role


class MemberUser(UserSummary):
    """The user account of a member."""


class MemberTeam(Response):
    """A team that a member belongs to."""

    id = Uuid()
    name = Str()


class Member(Response):
    """A member of the organization; `id` is the user's id."""

    id = Uuid()
    user = Nested(MemberUser)
    role = Str(validate=OneOf(Role.__members__))
    teams = List(Nested(MemberTeam))
    joined_at = UtcDateTime()
    created_at = UtcDateTime()
    updated_at = UtcDateTime()
    revision = Int()


class MemberFilters(Schema):
    """Query parameters that filter a list of members."""

    role = Str(validate=OneOf(Role.__members__))
    q = Str(min_length=1, max_length=200, description="Part of a name or email address.")
    team_id = Uuid()
    created_after = UtcDateTime(description="Only members who joined at or after this time.")
    created_before = UtcDateTime(description="Only members who joined before this time.")


class UpdateMember(Schema):
    """Request body to change the role of a member."""

    role = Str(required=True, validate=OneOf(Role.__members__))
    revision = Int()


class TransferOwnership(Schema):
    """Request body to transfer the ownership of the organization to another member."""

    user_id = Uuid(required=True)
    revision = Int(description="The revision of the member who becomes an owner.")
