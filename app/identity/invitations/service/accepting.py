"""Service that accepts invitations; the token of an invitation is the only credential."""

from typing import Any
from uuid import UUID

from app.identity.auth import password_policy, sessions
from app.identity.auth import service as auth
from app.identity.invitations import queries
from app.identity.invitations.service import tokens
from app.identity.organizations import service as organizations
from app.identity.organizations.models import GONE
from app.identity.teams import service as teams
from app.identity.users import queries as user_queries
from app.identity.users import service as users
from app.identity.users.models import User
from app.kit import audit, db, errors, events, secrets, tenancy
from app.kit import tokens as access_tokens
from app.kit.errors import ApiError
from app.kit.permissions import Role

_REASON = "the organization is known only from the invitation's token"
_MESSAGES = {
    "accepted": "The invitation was already accepted.",
    "revoked": "The invitation was revoked.",
    "expired": "The invitation has expired. Ask for a new one.",
}


def offer(token: str) -> dict[str, Any]:
    """Return the organization, the address and the role of an open invitation.

    Raises 404 on an unknown token, and 409 `conflict` with `details.state` if the invitation is not
    open.
    """
    held = _find(token)
    return {
        "organization": {"slug": held.slug, "name": held.name},
        "email": held.email,
        "role": held.role,
        "inviter_name": held.inviter_name,
        "expires_at": held.expires_at,
        "has_account": _account(held.email) is not None,
    }


def accept(
    token: str,
    *,
    authorization: str | None,
    ip_address: str | None,
    user_agent: str | None,
    name: str | None = None,
    password: str | None = None,
) -> dict[str, Any]:
    """Join the organization, and return the login response.

    An existing account requires its password or a bearer token; otherwise one is created with
    `name` and `password`. The invitation's token verifies the address. Raises 404 and 409 as
    `offer` does; 400 if a value is missing; 401 on a wrong password or token; 403 if the bearer
    token is another account's, the organization is suspended, or the domain allows no passwords.
    """
    held = _find(token)
    if held.organization_status == "suspended":
        raise errors.denied("The organization is suspended: nobody can join it now.")
    client = {"ip_address": ip_address, "user_agent": user_agent}
    with tenancy.organization(held.organization_id):
        # Lock before any slow step: a concurrent request waits here, and then fails.
        if not queries.hold(tokens.stored(token)):
            raise _no_longer(_find(token).status)
        account = _account(held.email)
        if account is None:
            user, answer = _new_account(held, name, password, client, authorization)
        else:
            user, answer = _proven(account, password, client, authorization)
        # Accept after authentication, so that the audit log names the user. The invitation may have
        # expired meanwhile.
        if not queries.consume(tokens.stored(token)):
            raise _no_longer("expired")
        _join(held, user, keep=answer.pop("session_id", None))
    if user.email_verified_at is None:
        user_queries.set_security(user, email_verified_at=db.utc_now())
    only = answer.pop("only", None)
    return {**answer, "organizations": organizations.of_user(user.id, only=only)}


def claim(email: str) -> Any | None:
    """Accept the open invitation of an address into the bound organization.

    Returns (id, role, team_ids), or None if there is none. For single sign-on, where the identity
    provider confirms that the user has the address. An invitation with the role owner is not
    accepted in this way: it requires the token.
    """
    return queries.claim(email)


def _join(held: Any, user: User, *, keep: UUID | None) -> None:
    """Add the user to the organization and its teams; an existing member keeps their role.

    A new owner loses the sessions opened by single sign-on, except `keep`: that session presented
    the invitation's token, which proves as much as a confirmation by email.
    """
    joined = organizations.join(user.id, role=held.role)
    teams.join(user.id, held.team_ids)
    if joined and held.role == Role.owner.name:
        sessions.end_single_sign_on(user.id, held.organization_id, keep=keep)
    if joined:
        data = {"user_id": user.id, "role": held.role, "invitation_id": held.id}
        events.emit("member.joined", data)


def _find(token: str) -> Any:
    with tenancy.across_organizations(reason=_REASON):
        held = queries.offered(tokens.stored(token))
    if held is None:
        raise errors.not_found()
    if held.organization_status in GONE:
        raise _no_longer("revoked")
    if held.status != "open":
        raise _no_longer(held.status)
    return held


def _no_longer(status: str) -> ApiError:
    return errors.conflict(_MESSAGES[status], state=status)


def _account(email: str) -> User | None:
    """Return the account of exactly this address, or None.

    The account of a look-alike address belongs to somebody else.
    """
    found = users.by_email(email)
    return found if found is not None and found.email == email else None


def _new_account(
    held: Any,
    name: str | None,
    password: str | None,
    client: dict[str, Any],
    authorization: str | None,
) -> tuple[User, dict[str, Any]]:
    if authorization is not None:
        raise _anothers()
    password_policy.check_address(held.email)
    for field, value in (("name", name), ("password", password)):
        if value is None:
            raise errors.invalid("Required to create an account.", field)
    chosen = {n: held.settings[n] for n in ("locale", "time_zone") if n in held.settings}
    with secrets.gate.place():
        user = users.create(
            email=held.email, name=name or "", password=password, verified=True, **chosen
        )
    return user, auth.open_session(user, **client)


def _proven(
    account: User, password: str | None, client: dict[str, Any], authorization: str | None
) -> tuple[User, dict[str, Any]]:
    if authorization is not None:
        return account, _by_token(account, authorization)
    if password is None:
        message = "This address has an account. Send its password or its bearer token."
        raise errors.invalid(message, "password")
    return account, auth.login(email=account.email, password=password, **client)


def _by_token(account: User, authorization: str) -> dict[str, Any]:
    """Return the login response of the request's own session, which continues.

    `only` is the organization that the session is limited to, which may be another one than the
    invitation's; None if it is not limited.
    """
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise access_tokens.refused()
    token = token.strip()
    caller = auth.by_token(token, None)
    audit.act_as("user", caller.user_id, caller.email)
    if caller.user_id != account.id:
        raise _anothers()
    assert caller.expires_at is not None
    return {
        "access_token": token,
        "token_type": "bearer",
        "expires_in": max(0, int((caller.expires_at - db.utc_now()).total_seconds())),
        "user": {"id": account.id, "email": account.email, "name": account.name},
        "only": caller.only_organization,
        "session_id": caller.session_id,
    }


def _anothers() -> ApiError:
    return errors.denied("The invitation was sent to a different address than this account's.")
