"""Request and response schemas for invitations."""

from app.identity.users.schemas import UserSummary
from app.kit.api.fields import (
    Bool,
    List,
    Name,
    Nested,
    OneOf,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)
from app.kit.permissions import Role

INVITATION_STATUSES = ("open", "expired", "accepted", "revoked")
MAX_TEAMS_PER_INVITATION = 100


class Inviter(UserSummary):
    """The user who sent an invitation."""


class Invitation(Response):
    """An invitation, without its token, which only the email contains."""

    id = Uuid()
    email = Str()
    role = Str(validate=OneOf(Role.__members__))
    team_ids = List(Uuid())
    status = Str(validate=OneOf(INVITATION_STATUSES))
    expires_at = UtcDateTime()
    invited_by = Nested(Inviter, allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()


class InvitationFilters(Schema):
    """Query parameters that filter a list of invitations."""

    status = Str(validate=OneOf(INVITATION_STATUSES), load_default="open")


class CreateInvitation(Schema):
    """Request body to create an invitation; the role must not be above the caller's role."""

    email = Str(required=True, max_length=320)
    role = Str(required=True, validate=OneOf(Role.__members__))
    team_ids = List(Uuid(), max_items=MAX_TEAMS_PER_INVITATION)


class InvitingOrganization(Response):
    """The organization that an invitation is for."""

    slug = Str()
    name = Str()


class InvitationPreview(Response):
    """A preview of an open invitation for the person who has its token."""

    organization = Nested(InvitingOrganization)
    email = Str()
    role = Str()
    inviter_name = Str(allow_none=True)
    expires_at = UtcDateTime()
    has_account = Bool(
        description=(
            "Whether the invited address has an account. If so, the account's password or a bearer"
            " token is required to accept the invitation."
        )
    )


class AcceptInvitation(Schema):
    """Request body to accept an invitation.

    If the address has no account, `name` and `password` are required. Otherwise, the account's
    password is required, unless the request has a bearer token of the account.
    """

    name = Name()
    password = Str(max_length=1024)
