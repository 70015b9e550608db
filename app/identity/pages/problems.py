"""Mapping from service errors to the problems that pages show."""

from dataclasses import dataclass, field
from datetime import timedelta

from babel import Locale
from babel.dates import format_timedelta

from app.kit.errors import ApiError

_MINUTE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem that a page shows.

    `phrase` is a key in the TOML table `errors` of the language files. `input` is the name of the
    form field that the user must change. `message` is the API's English message, which is shown if
    there is no specific phrase for the error.
    """

    phrase: str
    input: str | None = None
    values: dict[str, str] = field(default_factory=dict)
    message: str | None = None


_PROBLEM_BY_REASON = {
    "too_short": Problem("password_short", "password"),
    "too_long": Problem("password_long", "password"),
    "common": Problem("password_common", "password"),
    "personal": Problem("password_personal", "password"),
    "other_browser": Problem("other_browser"),
    "application": Problem("application"),
    "other_site": Problem("other_site"),
    "busy": Problem("busy"),
    "database": Problem("unavailable"),
}
_PROBLEM_BY_STATE = {
    "accepted": Problem("invitation_accepted"),
    "revoked": Problem("invitation_revoked"),
    "expired": Problem("invitation_expired"),
}
_PROBLEM_BY_CODE = {
    "not_found": Problem("link_invalid"),
    "plan_limit_reached": Problem("members_full"),
    "invalid_credentials": Problem("password_wrong", "password"),
    "payload_too_large": Problem("form"),
    "unsupported_media_type": Problem("form"),
    "service_unavailable": Problem("unavailable"),
}
_PROBLEM_BY_FIELD = {
    ("validation_error", "token"): Problem("link_invalid"),
    ("unprocessable", "name"): Problem("name_invalid", "name"),
    ("conflict", "email"): Problem("email_taken"),
}


def find_problem(error: ApiError, language: str) -> Problem:
    """Return the problem that a page shows for a service error.

    `language` is used to format waiting times.
    """
    details = error.details or {}
    if "retry_after" in details:
        return Problem("too_many", values={"wait": format_wait(details["retry_after"], language)})
    if details.get("single_sign_on"):
        return Problem("single_sign_on")
    problem = (
        _PROBLEM_BY_REASON.get(str(details.get("reason")))
        or _PROBLEM_BY_STATE.get(str(details.get("state")))
        or _PROBLEM_BY_FIELD.get((error.code, error.field or ""))
        or _PROBLEM_BY_CODE.get(error.code)
    )
    if problem is None and error.code == "unprocessable":
        problem = Problem("form")
    return problem or Problem("other", message=error.message)


def format_wait(seconds: int, language: str) -> str:
    """Format a waiting time in seconds as text, such as "in 2 minutes".

    A time of more than one minute is rounded up to whole minutes.
    """
    if seconds > _MINUTE_SECONDS:
        seconds = -(-seconds // _MINUTE_SECONDS) * _MINUTE_SECONDS
    locale = Locale.parse(language, sep="-")
    wait = timedelta(seconds=seconds)
    return format_timedelta(wait, add_direction=True, locale=locale)
