"""The kinds of connector alerts."""

from enum import StrEnum


class AlertKind(StrEnum):
    """The reason for a connector alert.

    CREDENTIALS_REFUSED, UNREACHABLE, CRAWL_FAILED: the latest crawl failed for this reason. STALE:
    no crawl has succeeded at several consecutive scheduled times. QUARANTINED: the schedule is
    suspended because too many consecutive crawls have failed.
    """

    CRAWL_FAILED = "crawl_failed"
    CREDENTIALS_REFUSED = "credentials_refused"
    UNREACHABLE = "unreachable"
    STALE = "stale"
    QUARANTINED = "quarantined"
