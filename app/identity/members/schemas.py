"""Schemas of requests and responses about members."""

from app.identity.users.schemas import UserSummary
from app.kit.api.fields import Int, List, Nested, OneOf, Schema, Str, UtcDateTime, Uuid
from app.kit.permissions import Role

ROLES = [role.name for role in Role]


class MemberUser(UserSummary):
    """The user account of a member."""


class MemberTeam(Schema):
    """A team of a member."""

    id = Uuid(required=True)
    name = Str(required=True)


class Member(Schema):
    """A member of the organization, identified by the id of the user."""

    id = Uuid(required=True)
    user = Nested(MemberUser, required=True)
    role = Str(required=True, validate=OneOf(ROLES))
    teams = List(Nested(MemberTeam), required=True)
    joined_at = UtcDateTime(required=True)
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)
    revision = Int(required=True)


class MemberFilters(Schema):
    """Query parameters that filter a list of members."""

    role = Str(validate=OneOf(ROLES))
    q = Str(
        min_length=1, max_length=200, metadata={"description": "Part of a name or email address."}
    )
    team_id = Uuid()
    created_after = UtcDateTime(
        metadata={"description": "Only members who joined at or after this time."}
    )
    created_before = UtcDateTime(
        metadata={"description": "Only members who joined before this time."}
    )


class UpdateMember(Schema):
    """Request body to change the role of a member."""

    role = Str(required=True, validate=OneOf(ROLES))
    revision = Int()


class TransferOwnership(Schema):
    """Request body to transfer the ownership of the organization to another member."""

    user_id = Uuid(required=True)
