"""Login, logout and authentication of callers (implements the kit's Authenticator port)."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from app.identity.auth import attempts, password_policy, queries
from app.identity.auth.models import Session
from app.identity.organizations import service as organizations
from app.identity.organizations.models import GONE
from app.identity.users import queries as user_queries
from app.identity.users.models import User
from app.identity.users.queries import Credentials
from app.kit import audit, container, db, errors, secrets, tokens
from app.kit.errors import ApiError
from app.kit.permissions import Role
from app.kit.principal import Caller, Organization

_USER_AGENT_LENGTH = 300


def login(
    *,
    email: str,
    password: str,
    ip_address: str | None,
    user_agent: str | None,
    authorization: str | None = None,
) -> dict[str, Any]:
    """Check a password, open a session and return the login response.

    `authorization` may contain an earlier token of the account (see `attempts`). Raises 401
    `invalid_credentials`, 429 `rate_limited` after repeated failures, and 503 under overload.
    """
    with secrets.gate.place():
        found = user_queries.credentials(email)
        subject = attempts.of_address(email, _known_session(found, authorization))
        failed = attempts.check(subject)
        # A hash is computed for an unknown address, too: the response time reveals nothing.
        stored, nobodys = found.password_hash, secrets.nobodys_hash()
        right = secrets.verify_password(stored or nobodys, password)
        if not right or stored is None or found.user_id is None or found.disabled_at is not None:
            attempts.count(subject)
            raise password_policy.refusal(email) or _wrong()
        audit.act_as("user", found.user_id, found.email or "")
        if secrets.needs_rehash(stored):
            user_queries.replace_hash(
                found.user_id, old=stored, new=secrets.hash_password(password)
            )
    if failed:
        attempts.clear(subject)
    user = user_queries.get(found.user_id)
    # The account may have changed during the hashing: an old password must not open a session.
    if user is None or user.disabled_at or user.token_version != found.token_version:
        raise _wrong()
    password_policy.check(user)
    return open_session(user, ip_address=ip_address, user_agent=user_agent)


def _known_session(found: Credentials, authorization: str | None) -> UUID | None:
    """Return the id of the account's session that a token in the header proves, or None.

    The token may have expired.
    """
    scheme, _, token = (authorization or "").partition(" ")
    claims = tokens.read_ended(token.strip()) if scheme.lower() == "bearer" else None
    if (
        claims is None
        or found.user_id is None
        or (claims.user_id, claims.token_version) != (found.user_id, found.token_version)
        or not queries.was_ours(claims.session_id, found.user_id)
    ):
        return None
    return claims.session_id


def open_session(
    user: User,
    *,
    ip_address: str | None,
    user_agent: str | None,
    organization_id: UUID | None = None,
    method: str = "password",
) -> dict[str, Any]:
    """Open a session for an authenticated user, and return the login response.

    `method` is password, oidc or saml. `organization_id` limits the session to one organization,
    if the identity provider is trusted for that one only. The user must be flushed; the token
    contains the user's current `token_version`.
    """
    audit.act_as("user", user.id, user.email)
    hours = container.settings().access_token_hours
    now = db.utc_now()
    session = Session(
        user_id=user.id,
        issued_at=now,
        last_seen_at=now,
        expires_at=now + timedelta(hours=hours),
        ip_address=ip_address,
        user_agent=_agent(user_agent),
        method=method,
        token_version=user.token_version,
        organization_id=organization_id,
    )
    db.session().add(session)
    db.session().flush()
    token = tokens.issue(
        user.id, email=user.email, session_id=session.id, token_version=user.token_version
    )
    return {
        "access_token": token,
        "token_type": "bearer",
        "expires_in": int(hours * 3600),
        "user": {"id": user.id, "email": user.email, "name": user.name},
        "organizations": organizations.of_user(user.id, only=organization_id),
    }


def _agent(user_agent: str | None) -> str | None:
    """Return a User-Agent header in a form that PostgreSQL can store, or None if it is empty."""
    text = (user_agent or "")[:_USER_AGENT_LENGTH].replace("\x00", "")
    return text.encode("utf-8", "replace").decode() or None


def _wrong() -> ApiError:
    return ApiError("invalid_credentials", "The email address or the password is wrong.")


def logout(caller: Caller) -> None:
    """Revoke the caller's session; the next request with its token is refused."""
    if caller.session_id is not None:
        queries.revoke(caller.session_id, db.utc_now())


def session_of(caller: Caller) -> dict[str, Any]:
    """Return the user and the organizations of the caller's token or API key.

    For an API key, these are its creator, its organization and its role.
    """
    shown: dict[str, Any] = {
        "user": {"id": caller.user_id, "email": caller.email, "name": caller.name},
        "session_id": caller.session_id,
        "api_key": None,
        "expires_at": caller.expires_at,
    }
    if caller.api_key_id is None:
        only = caller.only_organization
        shown["organizations"] = organizations.of_user(caller.user_id, only=only)
    else:
        shown["user"]["name"] = queries.name_of(caller.user_id)
        shown["organizations"] = organizations.of_key(caller)
        shown["api_key"] = {
            "id": caller.api_key_id,
            "name": caller.name,
            "read_only": caller.read_only,
        }
    return shown


def by_token(token: str, slug: str | None) -> Caller:
    """Authenticate a bearer token (see `kit.principal.Authenticator`)."""
    claims = tokens.read(token)
    proof = queries.prove(claims.session_id, slug)
    if proof is None or proof.ended or proof.token_version != claims.token_version:
        raise tokens.expired()
    if proof.seen_long_ago:
        queries.touch(claims.session_id)
    return Caller(
        user_id=claims.user_id,
        email=proof.email,
        name=proof.name,
        session_id=claims.session_id,
        token_id=claims.token_id,
        expires_at=datetime.fromtimestamp(claims.expires_at, UTC),
        organization=_organization(proof) if slug is not None else None,
        role=Role[proof.role] if proof.role else None,
        only_organization=UUID(proof.only_organization) if proof.only_organization else None,
    )


def _organization(proof: queries.Proof) -> Organization:
    """Return the organization of the request.

    Raises the same 403 for an unknown slug as for an organization of which the user is no member.
    """
    if proof.organization_id is None or proof.role is None or proof.status in GONE:
        raise errors.denied("You are not a member of this organization.")
    assert proof.slug is not None
    assert proof.status is not None
    return Organization(
        UUID(str(proof.organization_id)), proof.slug, proof.status, proof.settings or {}
    )
