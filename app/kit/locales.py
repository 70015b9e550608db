"""Validation of language tags and time zone names, and formatting of timestamps.

The locale data is part of the Python packages that this service installs.
"""

import re
from datetime import datetime
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from babel import Locale, UnknownLocaleError
from babel.dates import format_datetime

from app.kit import errors

_LANGUAGE_TAG = re.compile(r"[A-Za-z0-9]{1,8}(?:-[A-Za-z0-9]{1,8}){0,3}")
_EXCLUDED_TIME_ZONES = frozenset({"Factory", "localtime"})


def check_locale(text: str, field: str) -> str:
    """Check a language tag (BCP 47, such as `zh-Hant-TW`), and return its canonical spelling.

    Raises 400 `validation_error` on `field` if the CLDR has no locale for the tag.
    """
    canonical = _find_canonical_tag(text)
    if canonical is None:
        message = "Must be the language tag of a known locale, for example en, de-AT or zh-Hant-TW."
        raise errors.invalid(message, field)
    return canonical


@cache
def _list_time_zones() -> frozenset[str]:
    return frozenset(available_timezones()) - _EXCLUDED_TIME_ZONES


def check_time_zone(text: str, field: str) -> str:
    """Check that the IANA database contains a time zone name, and return the name unchanged.

    Raises 400 `validation_error` on `field` if the database does not contain it.
    """
    if text not in _list_time_zones():
        message = "Must be an IANA time zone, for example Europe/Vienna or UTC."
        raise errors.invalid(message, field)
    return text


def format_timestamp(at: datetime, locale: str, time_zone: str) -> str:
    """Format a timestamp for readers of a locale, to the minute and with its time zone.

    `locale` and `time_zone` must be valid (`check_locale`, `check_time_zone`).
    """
    babel_locale = Locale.parse(locale, sep="-")
    return format_datetime(
        at, "d MMMM y, HH:mm zzzz", tzinfo=ZoneInfo(time_zone), locale=babel_locale
    )


def _find_canonical_tag(text: str) -> str | None:
    if not _LANGUAGE_TAG.fullmatch(text) or text.lower() == "root":
        return None
    try:
        locale = Locale.parse(text, sep="-", resolve_likely_subtags=False)
    except (ValueError, UnknownLocaleError, TypeError):
        return None
    parts = (locale.language, locale.script, locale.territory, locale.variant)
    return "-".join(part for part in parts if part)
