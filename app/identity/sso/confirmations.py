"""Read what an emailed confirmation code is for, without using it up."""

from app.identity.sso import flows, queries
from app.kit import errors, tenancy
from app.kit.errors import ApiError


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
        raise _cannot_confirm("Return to the application that began this sign-in.", "application")
    if confirmation.browser_hash != flows.fingerprint("browser", browser):
        raise _cannot_confirm(
            "Open the link in the browser that began the sign-in.", "other_browser"
        )
    return {"email": confirmation.email, "organization": confirmation.organization}


def _cannot_confirm(message: str, reason: str) -> ApiError:
    return errors.invalid(message, "token", reason=reason)
