"""Days that tests may rely on, whatever the time at which they run."""

from datetime import UTC, date, datetime, timedelta


def today_of(told: str) -> date:
    """The day that an answer took for today in UTC: it may have ended since."""
    day, now = date.fromisoformat(told), datetime.now(UTC)
    assert day in {now.date(), (now - timedelta(minutes=5)).date()}
    return day
