"""The kinds of alerts."""

from enum import StrEnum


class AlertKind(StrEnum):
    """Why a connector raised an alert.

    CREDENTIALS_REFUSED, UNREACHABLE, CRAWL_FAILED: the latest crawl failed for this reason. STALE:
    several scheduled crawls in a row brought no result. QUARANTINED: the schedule is suspended
    because too many crawls failed in a row.
    """

    CRAWL_FAILED = "crawl_failed"
    CREDENTIALS_REFUSED = "credentials_refused"
    UNREACHABLE = "unreachable"
    STALE = "stale"
    QUARANTINED = "quarantined"
