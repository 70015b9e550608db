"""Normalize dates (`YYYY-MM-DD`), times (`HH:MM:SS`) and datetimes (ISO 8601 in UTC, `Z`)."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

from app.engines.fields.dates import parse_date, parse_time
from app.engines.fields.errors import ValueProblem
from app.engines.fields.model import Field, JsonValue, Normalizer, get_range
from app.engines.fields.plain_text import clean_text

_WRITTEN_DATETIME = re.compile(
    r"(?P<date>.*?[^\s,])[\s,]+(?:at |um )?"
    r"(?P<time>[0-9]{1,2}(?:[:.h][0-9]{2}){0,2}(?: ?[ap]\.?m\.?)?)"
    r"(?: ?(?P<zone>z|utc|gmt|[+-][0-9]{2}:?[0-9]{2}))?(?: ?uhr)?",
    re.IGNORECASE,
)

_WEEK_AND_TIME = re.compile(r"[0-9]{4}-?W[0-9]{2}[^0-9-]")


def build_normalizer(field: Field) -> Normalizer:
    """Build the normalizer for a date, time or datetime field, including its `min` and `max`."""
    normalize_value = _NORMALIZERS[field["type"]]
    low, high = get_range(field, normalize_value)

    def normalize(value: object) -> JsonValue:
        text = normalize_value(value)
        # Without the Z, canonical forms sort as text in chronological order.
        sortable = text.rstrip("Z")
        if low is not None and sortable < low.rstrip("Z"):
            raise ValueProblem(f"is before {low}")
        if high is not None and sortable > high.rstrip("Z"):
            raise ValueProblem(f"is after {high}")
        return text

    return normalize


def _normalize_date(value: object) -> str:
    return parse_date(clean_text(value, 100)).isoformat()


def _normalize_time(value: object) -> str:
    return parse_time(clean_text(value, 100)).isoformat()


def _normalize_datetime(value: object) -> str:
    text = clean_text(value, 100)
    parsed_time = _parse_iso_datetime(text) or _parse_written_datetime(text)
    if parsed_time.tzinfo is None:
        parsed_time = parsed_time.replace(tzinfo=UTC)
    try:
        parsed_time = parsed_time.astimezone(UTC)
    except OverflowError:
        raise ValueProblem("is outside the years 1 to 9999") from None
    return parsed_time.replace(tzinfo=None).isoformat() + "Z"


def _parse_iso_datetime(text: str) -> datetime | None:
    # A week without a day would be parsed as its Monday.
    if len(text) <= len("YYYY-MM-DD") or _WEEK_AND_TIME.match(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _parse_written_datetime(text: str) -> datetime:
    match = _WRITTEN_DATETIME.fullmatch(text)
    if match is None:
        raise ValueProblem("is not a date with a time; use the form YYYY-MM-DDTHH:MM:SSZ")
    day, time_of_day = parse_date(match["date"]), parse_time(match["time"])
    zone = match["zone"]
    if zone is None or zone[0] not in "+-":
        return datetime.combine(day, time_of_day, tzinfo=UTC)
    try:
        return datetime.fromisoformat(f"{day.isoformat()}T{time_of_day.isoformat()}{zone}")
    except ValueError:
        raise ValueProblem("has an invalid time zone offset") from None


_NORMALIZERS: dict[str, Callable[[object], str]] = {
    "date": _normalize_date,
    "time": _normalize_time,
    "datetime": _normalize_datetime,
}
