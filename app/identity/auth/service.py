"""Registration, login, sessions, and authentication of callers by access token."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from app.identity.auth import attempts, links, password_policy, ports, queries
from app.identity.auth.models import Session
from app.identity.auth.responses import KeySummary, LoginResponse, SessionInfo
from app.identity.organizations import service as organizations
from app.identity.organizations.models import CLOSED_STATUSES
from app.identity.users import queries as user_queries
from app.identity.users import service as users
from app.identity.users.models import Person, User
from app.identity.users.queries import Credentials
from app.kit import audit, container, db, errors, secrets, tokens
from app.kit.errors import ApiError
from app.kit.pagination import Page, PageRequest
from app.kit.permissions import Role
from app.kit.principal import Caller, Organization

_MAX_USER_AGENT_LENGTH = 300


class Client(NamedTuple):
    """A client's IP address and User-Agent header, which are stored with the session."""

    ip_address: str | None
    user_agent: str | None


def register(
    *,
    email: str,
    password: str,
    name: str,
    organization_name: str | None = None,
    client: Client,
) -> LoginResponse:
    """Create an account and optionally its first organization, and return the login response.

    Emails a link that confirms the address. Raises 403 `permission_denied` if registration requires
    an invitation and this is not the first account, or if single sign-on is enforced for the
    address; 400 `validation_error` if a field is invalid, 409 `conflict` if the mailbox already has
    an account, and 503 under overload.
    """
    # The first account of an installation needs no invitation, because nobody could have sent it.
    if container.settings().registration != "open" and not user_queries.lock_first_registration():
        raise errors.denied("Registration requires an invitation. Ask a member to invite you.")
    password_policy.check_address(email)
    with secrets.hashing_slots.reserve():
        user = users.create(email=email, name=name, password=password)
    if organization_name is not None:
        organizations.create(name=organization_name, owner_id=user.id)
    links.send_link(user, links.EMAIL_CONFIRMATION, user.email)
    return open_session(user, client)


def login(
    *, email: str, password: str, client: Client, authorization: str | None = None
) -> LoginResponse:
    """Verify a password, open a session and return the login response.

    `authorization` is the request's Authorization header. It may contain an earlier access token of
    the account; the client's failures are then counted separately (see `attempts`). Raises 401
    `invalid_credentials`, 403 `permission_denied` if single sign-on is enforced for the address or
    the account, 429 `rate_limited` after repeated failures, and 503 under overload.
    """
    with secrets.hashing_slots.reserve():
        account = user_queries.get_credentials(email)
        subject = attempts.get_address_subject(email, _find_session_id(account, authorization))
        has_failures = attempts.check_wait(subject)
        # A hash is also computed for an unknown address, so that the response time reveals nothing.
        stored_hash, user_id = account.password_hash, account.user_id
        is_correct = secrets.verify_password(stored_hash or secrets.build_dummy_hash(), password)
        if (
            not is_correct
            or stored_hash is None
            or user_id is None
            or account.disabled_at is not None
        ):
            attempts.record_failure(subject)
            raise ports.single_sign_on.get().find_address_error(email) or _build_credentials_error()
        audit.set_actor("user", user_id, account.email or "")
        if secrets.needs_rehash(stored_hash):
            user_queries.replace_password_hash(
                user_id, old_hash=stored_hash, new_hash=secrets.hash_password(password)
            )
    if has_failures:
        attempts.clear_failures(subject)
    # The password may have changed during hashing. Enforcing single sign-on waits for this lock.
    user = user_queries.lock(user_id)
    if user is None or user.disabled_at or user.token_version != account.token_version:
        raise _build_credentials_error()
    password_policy.check(user)
    return open_session(user, client)


def _find_session_id(account: Credentials, authorization: str | None) -> UUID | None:
    """Return the id of the session in an Authorization header, if it is a session of the account.

    The access token may have expired. Returns None if there is no such session.
    """
    token = tokens.parse_bearer(authorization)
    claims = None if token is None else tokens.read_ignoring_expiry(token)
    if (
        claims is None
        or account.user_id is None
        or (claims.user_id, claims.token_version) != (account.user_id, account.token_version)
        or not queries.is_unrevoked_session(claims.session_id, account.user_id)
    ):
        return None
    return claims.session_id


def open_session(
    user: User, client: Client, *, organization_id: UUID | None = None, method: str = "password"
) -> LoginResponse:
    """Open a session for an authenticated user, and return the login response.

    `method` is password, oidc or saml. `organization_id` limits the session to one organization;
    use it if the identity provider is trusted only for that organization. The user's row must be
    flushed; the token contains the user's current `token_version`.
    """
    audit.set_actor("user", user.id, user.email)
    hours = container.settings().access_token_hours
    now = db.utc_now()
    session = Session(
        user_id=user.id,
        issued_at=now,
        last_seen_at=now,
        expires_at=now + timedelta(hours=hours),
        ip_address=client.ip_address,
        user_agent=_clean_user_agent(client.user_agent),
        method=method,
        token_version=user.token_version,
        organization_id=organization_id,
    )
    db.session().add(session)
    db.session().flush()
    token = tokens.issue(
        user.id, email=user.email, session_id=session.id, token_version=user.token_version
    )
    return LoginResponse(
        access_token=token,
        expires_in=int(hours * 3600),
        user=Person(user.id, user.email, user.name),
        organizations=organizations.list_for_user(user.id, only_organization_id=organization_id),
    )


def _clean_user_agent(user_agent: str | None) -> str | None:
    """Truncate a User-Agent header and remove characters that PostgreSQL cannot store.

    Returns None if the header is empty.
    """
    text = (user_agent or "")[:_MAX_USER_AGENT_LENGTH].replace("\x00", "")
    return text.encode("utf-8", "replace").decode() or None


def _build_credentials_error() -> ApiError:
    return ApiError("invalid_credentials", "The email address or the password is wrong.")


def logout(caller: Caller) -> None:
    """Revoke the caller's session; the next request with its token is refused."""
    if caller.session_id is not None:
        queries.revoke(caller.session_id)


def get_session(caller: Caller) -> SessionInfo:
    """Return the caller's user and organizations, and the caller's session or API key.

    For an API key, the user is its creator, and the only organization is the key's organization
    with the key's role.
    """
    api_key = None
    if caller.api_key_id is None:
        name = caller.name
        roles = organizations.list_for_user(
            caller.user_id, only_organization_id=caller.only_organization_id
        )
    else:
        name = queries.get_user_name(caller.user_id)
        roles = organizations.list_for_key(caller)
        api_key = KeySummary(caller.api_key_id, caller.name, caller.read_only)
    return SessionInfo(
        user=Person(caller.user_id, caller.email, name),
        organizations=roles,
        session_id=caller.session_id,
        api_key=api_key,
        expires_at=caller.expires_at,
    )


def authenticate_token(token: str, slug: str | None) -> Caller:
    """Verify an access token and its session, and return the caller.

    Implements `Authenticator.authenticate_token`. `slug` names the organization of the request, or
    is None. Also updates the session's `last_seen_at`. Raises 401 for an invalid token or session,
    and 403 if the user cannot access the organization.
    """
    claims = tokens.verify(token)
    state = queries.find_session(claims.session_id, slug)
    if state is None or state.has_ended or state.token_version != claims.token_version:
        raise tokens.build_expired_error()
    if state.last_seen_is_outdated:
        queries.update_last_seen_at(claims.session_id)
    return Caller(
        user_id=claims.user_id,
        email=state.email,
        name=state.name,
        session_id=claims.session_id,
        token_id=claims.token_id,
        expires_at=datetime.fromtimestamp(claims.expires_at, UTC),
        organization=_get_organization(state) if slug is not None else None,
        role=Role[state.role] if state.role else None,
        only_organization_id=state.only_organization_id,
    )


def _get_organization(state: queries.SessionState) -> Organization:
    """Return the organization that the request names.

    Raises the same 403 if the slug is unknown, the organization is closed, the session is limited
    to another organization, or the user is not a member.
    """
    organization = state.organization
    if organization is None or state.role is None or organization.status in CLOSED_STATUSES:
        raise errors.denied("You are not a member of this organization.")
    return organization


def list_sessions(caller: Caller, page: PageRequest, **period: datetime | None) -> Page:
    """Return a page of the caller's active sessions, filtered by when they were issued.

    A caller whose session is limited to one organization sees only sessions limited to that
    organization: the organization's identity provider must not learn of the user's other sessions.
    """
    return queries.list_active_sessions(
        caller.user_id,
        caller.session_id,
        page,
        only_organization_id=caller.only_organization_id,
        **period,
    )


def revoke_session(caller: Caller, session_id: UUID) -> None:
    """Revoke one of the sessions that `list_sessions` returns. Raises 404 for other sessions."""
    if not queries.revoke_active_session(
        session_id, caller.user_id, only_organization_id=caller.only_organization_id
    ):
        raise errors.not_found()


def revoke_all_sessions(caller: Caller) -> dict[str, int]:
    """Revoke all of the sessions that `list_sessions` returns, and return how many were active.

    If the caller's session is limited to one organization, the token version is not incremented,
    because that would also end sessions that are not limited to that organization.
    """
    user = errors.require_found(user_queries.lock(caller.user_id))
    if caller.only_organization_id is None:
        return {"revoked": end_all_sessions(user)}
    revoked_count = queries.revoke_all(
        user.id,
        token_version=user.token_version,
        only_organization_id=caller.only_organization_id,
    )
    return {"revoked": revoked_count}


def end_all_sessions(user: User) -> int:
    """End all sessions of a user by incrementing the token version; return how many were active.

    The caller must have locked or just created the user's row. `user` is updated to the new token
    version, so that a new session can be opened immediately.
    """
    old_version = user.token_version
    user_queries.update_account(user, token_version=User.token_version + 1)
    return queries.revoke_all(user.id, token_version=old_version)


def discard_login(login: LoginResponse) -> None:
    """Revoke the session of a login response that will not be sent to the client."""
    queries.revoke(tokens.verify(login.access_token).session_id)
