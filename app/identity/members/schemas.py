"""Bodies and answers of members."""

from app.kit.api.fields import Int, List, Nested, OneOf, Schema, Str, UtcDateTime, Uuid
from app.kit.permissions import Role

ROLES = [role.name for role in Role]


class MemberUser(Schema):
    """Who a member is."""

    id = Uuid(required=True)
    email = Str(required=True)
    name = Str(required=True)


class MemberTeam(Schema):
    """A team that a member is in."""

    id = Uuid(required=True)
    name = Str(required=True)


class Member(Schema):
    """Somebody in the organization. Its id is the user's."""

    id = Uuid(required=True)
    user = Nested(MemberUser, required=True)
    role = Str(required=True, validate=OneOf(ROLES))
    teams = List(Nested(MemberTeam), required=True)
    joined_at = UtcDateTime(required=True)
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)
    revision = Int(required=True)


class MemberFilters(Schema):
    """What members may be listed by."""

    role = Str(validate=OneOf(ROLES))
    q = Str(min_length=1, max_length=200, metadata={"description": "Part of a name or address."})
    team_id = Uuid()
    created_after = UtcDateTime(metadata={"description": "Who joined after this time."})
    created_before = UtcDateTime(metadata={"description": "Who joined before this time."})


class UpdateMember(Schema):
    """Another role."""

    role = Str(required=True, validate=OneOf(ROLES))
    revision = Int()


class TransferOwnership(Schema):
    """Whose the organization shall be."""

    user_id = Uuid(required=True)
