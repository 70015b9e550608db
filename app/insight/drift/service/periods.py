"""Choose and validate the periods that a detection compares."""

from datetime import datetime, time, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from app.insight.drift.queries import records
from app.insight.drift.queries.records import DetectionPeriods
from app.kit import db, errors
from app.kit.days import TimeRange

CURRENT_DAYS = 7
BASELINE_DAYS = 28
MAX_DAYS = 366
_FIRST_YEAR = 1970


def choose_periods(
    schema_id: UUID,
    *,
    baseline: TimeRange | None,
    current: TimeRange | None,
    fix_baseline: bool | None,
) -> DetectionPeriods:
    """Choose the periods of a requested detection, and validate them.

    By default, the current period is the last CURRENT_DAYS days. The default baseline is the fixed
    baseline of the schema, unless `fix_baseline` is False. Without a fixed baseline, it is the
    BASELINE_DAYS days before the earliest shift that has an open report and started before the
    current period. If there is no such shift, it is the BASELINE_DAYS days before the current
    period. If `fix_baseline` is True, `baseline` is required. Raises 400 for an invalid property.
    """
    now = db.utc_now()
    if baseline is not None:
        _check_period(baseline, "baseline", now)
    if current is None:
        current = TimeRange(now - timedelta(days=CURRENT_DAYS), now)
    else:
        _check_period(current, "current", now)
    if fix_baseline is True and baseline is None:
        raise errors.invalid("Required if `fix_baseline` is true.", "baseline")
    baseline_range = baseline or _find_baseline(
        schema_id, current, ignore_fixed=fix_baseline is False
    )
    if baseline_range.end > current.start:
        if baseline is None:
            message = "Must not be before the end of the schema's fixed baseline."
            raise errors.invalid(message, "current.from")
        raise errors.invalid("Must not be after the start of the current period.", "baseline.to")
    return DetectionPeriods(*baseline_range, *current)


def choose_daily_periods(schema_id: UUID, current: TimeRange) -> DetectionPeriods | None:
    """Choose the periods of a daily detection.

    Returns None if the current period begins before the end of the fixed baseline.
    """
    baseline_range = _find_baseline(schema_id, current, ignore_fixed=False)
    return (
        None if baseline_range.end > current.start else DetectionPeriods(*baseline_range, *current)
    )


def get_last_days(zone: str) -> TimeRange:
    """Return the period of the last CURRENT_DAYS days before today, in a time zone."""
    today = db.utc_now().astimezone(ZoneInfo(zone)).date()
    start, end = (
        datetime.combine(day, time.min, ZoneInfo(zone))
        for day in (today - timedelta(days=CURRENT_DAYS), today)
    )
    return TimeRange(start, end)


def _find_baseline(schema_id: UUID, current: TimeRange, *, ignore_fixed: bool) -> TimeRange:
    fixed_baseline = None if ignore_fixed else records.get_baseline(schema_id)
    if fixed_baseline is not None:
        return TimeRange(fixed_baseline.baseline_from, fixed_baseline.baseline_until)
    # A shift with an open report is not accepted yet, so the time before it remains the baseline.
    end = records.find_earliest_open_shift_start(schema_id, current.start) or current.start
    return TimeRange(end - timedelta(days=BASELINE_DAYS), end)


def _check_period(period: TimeRange, name: str, now: datetime) -> None:
    if period.start.year < _FIRST_YEAR:
        raise errors.invalid(f"The year must be {_FIRST_YEAR} or later.", f"{name}.from")
    if period.start >= period.end:
        raise errors.invalid("Must be before the end of the period.", f"{name}.from")
    if period.end > now:
        raise errors.invalid("Must not be in the future.", f"{name}.to")
    if period.end - period.start > timedelta(days=MAX_DAYS):
        message = f"The period must not be longer than {MAX_DAYS} days."
        raise errors.invalid(message, f"{name}.from")
