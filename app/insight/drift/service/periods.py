"""The periods that a detection compares."""

from datetime import datetime, time, timedelta
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from app.insight.drift.queries import records
from app.insight.drift.queries.records import Periods
from app.kit import db, errors

CURRENT_DAYS = 7
BASELINE_DAYS = 28
MAX_DAYS = 366
_FIRST_YEAR = 1970


class Range(NamedTuple):
    """A period with an exclusive end."""

    start: datetime
    end: datetime


def choose_periods(
    schema_id: UUID, *, baseline: Range | None, current: Range | None, fix_baseline: bool | None
) -> Periods:
    """Return the periods of a requested detection.

    By default the current period is the last CURRENT_DAYS. The default baseline is the fixed
    baseline of the schema, or the last BASELINE_DAYS before the current period and before the shift
    of any open report.

    Raises:
        ApiError: 400 on the invalid property of the period.
    """
    now = db.utc_now()
    if baseline is not None:
        _check(baseline, "baseline", now)
    if current is None:
        current = Range(now - timedelta(days=CURRENT_DAYS), now)
    else:
        _check(current, "current", now)
    if fix_baseline is True and baseline is None:
        raise errors.invalid("Required to fix the baseline.", "baseline")
    baseline_range = baseline or _find_baseline(
        schema_id, current, ignore_fixed=fix_baseline is False
    )
    if baseline_range.end > current.start:
        if baseline is None:
            message = "Must not be before the end of the schema's fixed baseline."
            raise errors.invalid(message, "current.from")
        raise errors.invalid("Must not be after the start of the current period.", "baseline.to")
    return Periods(*baseline_range, *current)


def choose_daily_periods(schema_id: UUID, current: Range) -> Periods | None:
    """Return the periods of a daily detection, or None if they overlap the fixed baseline."""
    baseline_range = _find_baseline(schema_id, current, ignore_fixed=False)
    return None if baseline_range.end > current.start else Periods(*baseline_range, *current)


def find_last_days(zone: str) -> Range:
    """Return the last CURRENT_DAYS whole days in a time zone."""
    today = db.utc_now().astimezone(ZoneInfo(zone)).date()
    start, end = (
        datetime.combine(day, time.min, ZoneInfo(zone))
        for day in (today - timedelta(days=CURRENT_DAYS), today)
    )
    return Range(start, end)


def _find_baseline(schema_id: UUID, current: Range, *, ignore_fixed: bool) -> Range:
    fixed = None if ignore_fixed else records.get_baseline(schema_id)
    if fixed is not None:
        return Range(fixed.baseline_from, fixed.baseline_until)
    # The shift of an open report is not accepted, so the time before it remains the baseline.
    end = records.find_first_open(schema_id, current.start) or current.start
    return Range(end - timedelta(days=BASELINE_DAYS), end)


def _check(period: Range, name: str, now: datetime) -> None:
    if period.start.year < _FIRST_YEAR:
        raise errors.invalid(f"The year must be {_FIRST_YEAR} or later.", f"{name}.from")
    if period.start >= period.end:
        raise errors.invalid("Must be before the end of the period.", f"{name}.from")
    if period.end > now:
        raise errors.invalid("Must not be in the future.", f"{name}.to")
    if period.end - period.start > timedelta(days=MAX_DAYS):
        message = f"The period must not be longer than {MAX_DAYS} days."
        raise errors.invalid(message, f"{name}.from")
