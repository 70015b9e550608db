"""Dates that are valid at whatever time a test runs."""

from datetime import UTC, date, datetime, timedelta


def parse_today(text: str) -> date:
    """Parse a date that a response gave as today in UTC, and check it.

    Midnight may have passed since the response, so yesterday is valid for five minutes.
    """
    day, now = date.fromisoformat(text), datetime.now(UTC)
    assert day in {now.date(), (now - timedelta(minutes=5)).date()}
    return day
