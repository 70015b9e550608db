"""Issue and redeem the one-time codes that an application exchanges for the login response."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from app.identity.sso import flows, queries
from app.identity.sso.models import Code, Flow
from app.kit import db, errors, secrets, tenancy

LIFETIME = timedelta(minutes=1)
CONFIRMATION_LIFETIME = timedelta(hours=1)


def issue(
    flow: Flow,
    user_id: UUID,
    *,
    ownership_id: UUID | None,
    pending: dict[str, Any] | None = None,
) -> str:
    """Create a code for the browser or application that began `flow`, and return it.

    A code with `pending` is emailed and valid for longer (see `CONFIRMATION_LIFETIME`).
    `ownership_id` is that of the user's membership (see `models.Code`).
    """
    code = secrets.random_token()
    lifetime = LIFETIME if pending is None else CONFIRMATION_LIFETIME
    row = Code(
        code_hash=flows.fingerprint("code", code),
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


def redeem(code: str, *, browser: str | None, verifier: str | None) -> Code | None:
    """Mark a code as used and return it, or None if it cannot be redeemed.

    A code cannot be redeemed if it is unknown, used, expired or issued to another browser or
    application. The caller proves that it began the sign-in: with the verifier if the flow has a
    challenge, otherwise with the browser's cookie. A wrong proof also uses the code up: whoever
    sends it is not entitled to the code, and a person who lost the proof should begin again.
    """
    row = flows.mark_used(Code, Code.code_hash == flows.fingerprint("code", code))
    if row is None:
        return None
    if row.challenge is not None:
        is_proven = flows.is_verifier_of(verifier, row.challenge)
    else:
        is_proven = row.browser_hash == flows.fingerprint("browser", browser)
    return row if is_proven else None


def get_confirmation(code: str, *, browser: str | None) -> dict[str, str]:
    """Return {email, organization} of an emailed code; the code stays valid.

    `browser` is the secret of the browser's cookie. Raises 400 `validation_error` on `token`.
    `details.reason` is `other_browser` if the sign-in began in another browser, and `application`
    if an application holds the proof that the exchange requires.
    """
    with tenancy.across_organizations(reason="the code determines the organization"):
        confirmation = queries.find_confirmation(flows.fingerprint("code", code))
    if confirmation is None:
        raise errors.invalid("The code is unknown, used or expired.", "token")
    if confirmation.challenge is not None:
        message = "Return to the application that began this sign-in."
        raise errors.invalid(message, "token", reason="application")
    if confirmation.browser_hash != flows.fingerprint("browser", browser):
        message = "Open the link in the browser that began the sign-in."
        raise errors.invalid(message, "token", reason="other_browser")
    return {"email": confirmation.email, "organization": confirmation.organization}
