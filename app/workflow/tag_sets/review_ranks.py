"""Ranks of tag sets in the review queue, least first: by priority, then by time."""

from datetime import UTC, datetime, timedelta

RANK_STEP = 10**13
"""More milliseconds than any due time, so that time only decides between equal priorities."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def review_rank(priority: int, at: datetime) -> int:
    """Return the rank by an artifact's priority (0 to 100) and the time by which it is urgent.

    The SQL function `review_rank_of` does the same when the urgency of an artifact changes.
    """
    milliseconds = (at - _EPOCH) // timedelta(milliseconds=1)
    return (100 - priority) * RANK_STEP + min(max(milliseconds, 0), RANK_STEP - 1)
