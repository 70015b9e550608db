"""Dates that are valid at whatever time a test runs."""

from datetime import UTC, date, datetime, timedelta


def parse_today(text: str) -> date:
    """Return the date that a response used as today in UTC; that day may just have ended."""
    day, now = date.fromisoformat(text), datetime.now(UTC)
    assert day in {now.date(), (now - timedelta(minutes=5)).date()}
    return day
