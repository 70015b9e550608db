"""Bodies and answers of invitations."""

from app.kit.api.fields import Bool, List, Name, Nested, OneOf, Schema, Str, UtcDateTime, Uuid
from app.kit.permissions import Role

ROLES = [role.name for role in Role]
STATES = ("open", "expired", "accepted", "revoked")
MAX_TEAMS = 100


class Inviter(Schema):
    """Who invited."""

    id = Uuid(required=True)
    email = Str(required=True)
    name = Str(required=True)


class Invitation(Schema):
    """An invitation. Its token is in the mail only."""

    id = Uuid(required=True)
    email = Str(required=True)
    role = Str(required=True, validate=OneOf(ROLES))
    team_ids = List(Uuid(), required=True)
    status = Str(required=True, validate=OneOf(STATES))
    expires_at = UtcDateTime(required=True)
    invited_by = Nested(Inviter, required=True, allow_none=True)
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)


class InvitationFilters(Schema):
    """What invitations may be listed by."""

    status = Str(validate=OneOf(STATES), load_default="open")
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class CreateInvitation(Schema):
    """Whom to invite, and as what. Nobody invites to a role above their own."""

    email = Str(required=True, max_length=320)
    role = Str(required=True, validate=OneOf(ROLES))
    team_ids = List(Uuid(), max_items=MAX_TEAMS)


class InvitedTo(Schema):
    """The organization of an offer."""

    slug = Str(required=True)
    name = Str(required=True)


class Offer(Schema):
    """What an invitation offers to whoever has its token."""

    organization = Nested(InvitedTo, required=True)
    email = Str(required=True)
    role = Str(required=True)
    inviter_name = Str(required=True, allow_none=True)
    expires_at = UtcDateTime(required=True)
    has_account = Bool(
        required=True,
        metadata={"description": "Whether the address has an account, whose password is needed."},
    )


class AcceptInvitation(Schema):
    """Name and password of the new account; of an existing one its password, unless the request
    carries its token."""

    name = Name()
    password = Str(max_length=1024)
