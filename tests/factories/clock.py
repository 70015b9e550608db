"""Compare the days in responses with the clock."""

from datetime import UTC, date, datetime, timedelta


def parse_tomorrow(text: str) -> date:
    """Parse and check the exclusive end of a default period: the day after today in UTC.

    If midnight passed during the request, today may be the day that has just ended.
    """
    end, now = date.fromisoformat(text), datetime.now(UTC)
    today = end - timedelta(days=1)
    assert today in {now.date(), (now - timedelta(minutes=5)).date()}
    return end
