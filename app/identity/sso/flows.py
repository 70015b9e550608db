"""Flows, which are sign-ins in progress, and the one-time codes that end a successful flow.

Each flow has separate secrets. Only the browser or application that began the flow can finish it,
and only once. The application exchanges the code for the login response.
"""

import hmac
import re
import secrets
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID, uuid4

from authlib.oauth2.rfc7636 import create_s256_code_challenge
from sqlalchemy import ColumnElement, func, or_, update

from app.identity.sso import queries
from app.identity.sso.models import Code, Configuration, Flow
from app.identity.sso.providers import NewFlow
from app.kit import container, db, errors, tenancy

SingleUseT = TypeVar("SingleUseT", Flow, Code)
FLOW_LIFETIME = timedelta(minutes=10)
CODE_LIFETIME = timedelta(minutes=1)
CONFIRMATION_LIFETIME = timedelta(hours=1)
_ENCODED_32_BYTES = re.compile(r"[A-Za-z0-9_-]{43}")  # base64url without padding
_CODE_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


def get_browser_secret(cookie: str | None) -> str:
    """Return the secret in the browser's cookie if it is well-formed, otherwise a new secret."""
    return cookie if cookie and _ENCODED_32_BYTES.fullmatch(cookie) else secrets.token_urlsafe(32)


def fingerprint(purpose: str, secret: str | None) -> str:
    """Return a keyed hash of a secret, which the database stores instead of the secret.

    The hash depends on `purpose`, such as `state`. If `secret` is None, the returned hash matches
    no stored hash.
    """
    return container.keyring().fingerprint(f"sso.{purpose}", secret or "")


def matches_challenge(verifier: str | None, challenge: str) -> bool:
    """Return whether a code verifier matches an S256 challenge (RFC 7636, section 4.6)."""
    if verifier is None or not _CODE_VERIFIER.fullmatch(verifier):
        return False
    return hmac.compare_digest(create_s256_code_challenge(verifier), challenge)


def is_s256_challenge(text: str) -> bool:
    """Return whether `text` is a well-formed S256 challenge."""
    return _ENCODED_32_BYTES.fullmatch(text) is not None


def begin(
    configuration: Configuration,
    *,
    browser_secret: str,
    challenge: str | None = None,
    redirect_uri: str | None = None,
    next_: str | None = None,
    hint: str | None = None,
) -> NewFlow:
    """Begin a sign-in: create a flow for the current organization in the current transaction.

    `browser_secret` is the secret in the browser's cookie. If `challenge` is set, the application
    must send the code verifier when it exchanges the code, and the provider's response may
    arrive in another browser. `redirect_uri` is the application's URL to return to. `next_` is
    returned to the application as `next`. `hint` is the email address that the person entered.
    """
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    flow = Flow(
        kind=configuration.kind,
        issuer=configuration.provider["issuer"],
        state_hash=fingerprint("state", state),
        nonce=secrets.token_urlsafe(32),
        code_verifier=container.keyring().encrypt(verifier),
        request_id=f"_{uuid4().hex}",
        browser_hash=fingerprint("browser", browser_secret),
        challenge=challenge,
        redirect_uri=redirect_uri,
        next=next_,
        expires_at=db.utc_now() + FLOW_LIFETIME,
    )
    db.session().add(flow)
    db.session().flush()
    return NewFlow(flow, state, verifier, hint)


def finish(protocol: str, *, state: str, browser_secret: str | None) -> Flow:
    """Finish a flow: mark it as used and return it. Only one of two concurrent calls succeeds.

    `protocol` is `oidc` or `saml`, and `state` is the value that the provider returned.

    Raises 400 `validation_error` on `state` if the flow is unknown, used, expired or bound to
    another browser. The error is the same in all these cases.
    """
    flow = mark_used(
        Flow,
        Flow.state_hash == fingerprint("state", state),
        Flow.kind == protocol,
        or_(
            Flow.browser_hash == fingerprint("browser", browser_secret), Flow.challenge.is_not(None)
        ),
    )
    if flow is None:
        raise errors.invalid(
            "This sign-in was already used, has expired or began in another browser. Sign in"
            " again.",
            "state",
        )
    return flow


def mark_used(model: type[SingleUseT], *conditions: ColumnElement[bool]) -> SingleUseT | None:
    """Mark the unused, unexpired row that meets the conditions as used, and return the row.

    Returns None if there is no such row. Only one of two concurrent calls succeeds.
    """
    statement = (
        update(model)
        .where(*conditions, model.used_at.is_(None), model.expires_at > func.now())
        .values(used_at=func.now())
        .returning(model)
    )
    with tenancy.across_organizations(reason="the secret determines the organization"):
        return db.execute_bulk(statement).scalars().one_or_none()


def decrypt_code_verifier(flow: Flow) -> str:
    """Decrypt the flow's PKCE verifier, which this service sends to the provider."""
    return container.keyring().decrypt(flow.code_verifier).decode()


def issue_code(
    flow: Flow, user_id: UUID, *, ownership_id: UUID | None, pending: dict[str, Any] | None = None
) -> str:
    """Issue and return a one-time code for the browser or application that began `flow`.

    If `pending` is not None, it contains the identity to link when the code is exchanged, and the
    caller emails the code. The code is then valid for a longer time (see `CONFIRMATION_LIFETIME`).
    `ownership_id` comes from the user's membership. If the membership has another value when the
    code is exchanged, the exchange is refused.
    """
    code = secrets.token_urlsafe(32)
    lifetime = CODE_LIFETIME if pending is None else CONFIRMATION_LIFETIME
    row = Code(
        code_hash=fingerprint("code", code),
        user_id=user_id,
        browser_hash=flow.browser_hash,
        challenge=flow.challenge,
        pending=pending,
        ownership_id=ownership_id,
        expires_at=db.utc_now() + lifetime,
    )
    db.session().add(row)
    db.session().flush()
    return code


def redeem_code(code: str, *, browser_secret: str | None, verifier: str | None) -> Code | None:
    """Redeem a code: mark it as used and return its row, or None if it cannot be redeemed.

    A code cannot be redeemed if it is unknown, used, expired or issued to another browser or
    application. The caller proves that it began the sign-in: with the code verifier if the flow has
    a challenge, otherwise with the browser's cookie. The code is used up even if the proof is
    wrong: the sender may have stolen the code, and a person who lost the proof can begin again.
    """
    row = mark_used(Code, Code.code_hash == fingerprint("code", code))
    if row is None:
        return None
    if row.challenge is not None:
        is_proven = matches_challenge(verifier, row.challenge)
    else:
        is_proven = row.browser_hash == fingerprint("browser", browser_secret)
    return row if is_proven else None


def get_confirmation(code: str, *, browser_secret: str | None) -> dict[str, str]:
    """Return the `email` address and the name of the `organization` that an emailed code is for.

    The code stays valid. `browser_secret` is the secret in the browser's cookie. Raises 400
    `validation_error` on `token` if the code is invalid or was not issued to this browser. The
    error's `details.reason` is `other_browser` if the sign-in began in another browser, and
    `application` if only the application that began the sign-in can exchange the code.
    """
    with tenancy.across_organizations(reason="the code determines the organization"):
        confirmation = queries.find_confirmation(fingerprint("code", code))
    if confirmation is None:
        raise errors.invalid("The code is unknown, used or expired.", "token")
    if confirmation.challenge is not None:
        message = "Return to the application that began this sign-in."
        raise errors.invalid(message, "token", reason="application")
    if confirmation.browser_hash != fingerprint("browser", browser_secret):
        message = "Open the link in the browser that began the sign-in."
        raise errors.invalid(message, "token", reason="other_browser")
    return {"email": confirmation.email, "organization": confirmation.organization}
