"""Languages and time zones by their standard names, from data that comes with the service."""

import re
from datetime import datetime
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from babel import Locale, UnknownLocaleError
from babel.dates import format_datetime

from app.kit import errors

_TAG = re.compile(r"[A-Za-z0-9]{1,8}(?:-[A-Za-z0-9]{1,8}){0,3}")
_NO_PLACES = frozenset({"Factory", "localtime"})


def check_locale(text: str, field: str) -> str:
    """The language tag (BCP 47: `de`, `pt-BR`, `zh-Hant-TW`) in its usual spelling.

    Raises 400 `validation_error` on `field` for a tag that the CLDR has no locale of.
    """
    found = _locale(text)
    if found is None:
        raise errors.invalid("Must be a language tag such as en, de-AT or zh-Hant-TW.", field)
    return found


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones()) - _NO_PLACES


def check_time_zone(text: str, field: str) -> str:
    """The name as the IANA time zone database has it, such as `Europe/Vienna`.

    Raises 400 `validation_error` on `field` for any other.
    """
    if text not in _zones():
        raise errors.invalid("Must be an IANA time zone such as Europe/Vienna or UTC.", field)
    return text


def written(at: datetime, locale: str, time_zone: str) -> str:
    """A moment as people of a language write it, to the minute and with its zone.

    Both names are ones that passed the checks above.
    """
    known = Locale.parse(locale, sep="-")
    return format_datetime(at, "d MMMM y, HH:mm zzzz", tzinfo=ZoneInfo(time_zone), locale=known)


def _locale(text: str) -> str | None:
    if not _TAG.fullmatch(text) or text.lower() == "root":
        return None
    try:
        locale = Locale.parse(text, sep="-", resolve_likely_subtags=False)
    except (ValueError, UnknownLocaleError, TypeError):
        return None
    parts = (locale.language, locale.script, locale.territory, locale.variant)
    return "-".join(part for part in parts if part)
