"""Warn when a meter reaches 80 % and 100 % of its limit."""

from collections.abc import Sequence
from uuid import UUID

from app.billing.usage import emitted_events
from app.billing.usage.emitted_events import ThresholdPayload
from app.billing.usage.queries import limits as queries
from app.billing.usage.queries import reading
from app.billing.usage.service.limits import build_limits, get_limits
from app.kit import events, jobs

PERCENTS = (80, 100)
WARN_JOB = "usage.warn"


def find_percent(used: int, limit: int | None) -> int | None:
    """Return the highest of `PERCENTS` that has been reached, or None."""
    if limit is None:
        return None
    return max((p for p in PERCENTS if used * 100 >= limit * p), default=None)


def enqueue_checks(organization_ids: Sequence[UUID]) -> None:
    """Enqueue a check of those organizations whose use is limited."""
    limited = [
        row.id
        for row in queries.list_plans(organization_ids)
        if build_limits(row.plan, row.limits).limited
    ]
    jobs.enqueue_many(WARN_JOB, [(organization_id, {}) for organization_id in limited])


def warn() -> None:
    """Emit an event for each meter of the bound organization that has reached a part of its limit.

    Each part is reported once per meter and month, and only the highest that is new.
    """
    limits = get_limits()
    if not limits.limited:
        return
    month = reading.read_month(tuple(limits.limited))
    reached = {
        meter: percent
        for meter, limit in limits.limited.items()
        if month.used(meter) > 0 and (percent := find_percent(month.used(meter), limit)) is not None
    }
    pairs = [(meter, p) for meter, percent in reached.items() for p in PERCENTS if p <= percent]
    new = queries.insert_warnings(month.first, pairs)
    payloads: list[ThresholdPayload] = [
        {
            "meter": str(meter),
            "percent": percent,
            "used": month.used(meter),
            "limit": limits.limited[meter],
            "plan": limits.plan,
            "month": month.first.isoformat(),
        }
        for meter, percent in reached.items()
        if (meter, percent) in new
    ]
    events.emit_many(emitted_events.THRESHOLD_REACHED, payloads)
