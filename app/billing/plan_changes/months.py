"""Compute billing periods, which are calendar months in UTC."""

from datetime import UTC, datetime


def get_month_bounds(at: datetime) -> tuple[datetime, datetime]:
    """Return the start of the UTC month that contains `at`, and the start of the next month."""
    first = at.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    if first.month < 12:  # noqa: PLR2004 - December
        return first, first.replace(month=first.month + 1)
    return first, first.replace(year=first.year + 1, month=1)
