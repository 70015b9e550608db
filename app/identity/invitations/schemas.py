"""Request and response schemas of invitations."""

from app.identity.users.schemas import UserSummary
from app.kit.api.fields import Bool, List, Name, Nested, OneOf, Schema, Str, UtcDateTime, Uuid
from app.kit.permissions import Role

ROLES = [role.name for role in Role]
STATES = ("open", "expired", "accepted", "revoked")
MAX_TEAMS = 100


class Inviter(UserSummary):
    """The user who sent an invitation."""


class Invitation(Schema):
    """An invitation. Its token is in the email only."""

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
    """Query parameters that filter a list of invitations."""

    status = Str(validate=OneOf(STATES), load_default="open")
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class CreateInvitation(Schema):
    """Request body to create an invitation; its role must not be above the caller's."""

    email = Str(required=True, max_length=320)
    role = Str(required=True, validate=OneOf(ROLES))
    team_ids = List(Uuid(), max_items=MAX_TEAMS)


class InvitingOrganization(Schema):
    """The organization that an invitation is for."""

    slug = Str(required=True)
    name = Str(required=True)


class InvitationPreview(Schema):
    """An invitation, as the holder of its token sees it."""

    organization = Nested(InvitingOrganization, required=True)
    email = Str(required=True)
    role = Str(required=True)
    inviter_name = Str(required=True, allow_none=True)
    expires_at = UtcDateTime(required=True)
    has_account = Bool(
        required=True,
        metadata={
            "description": "Whether the address has an account, whose password is then required."
        },
    )


class AcceptInvitation(Schema):
    """Request body to accept an invitation.

    A new account requires a name and a password. An existing account requires its password, unless
    the request has its bearer token.
    """

    name = Name()
    password = Str(max_length=1024)
