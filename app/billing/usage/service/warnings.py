"""Emit warnings when a meter reaches 80% and 100% of its limit."""

from collections.abc import Sequence
from uuid import UUID

from app.billing.usage import emitted_events, queries
from app.billing.usage.emitted_events import ThresholdPayload
from app.billing.usage.service.limits import build_limits, get_limits
from app.kit import events, jobs

PERCENTS = (80, 100)
"""The percentages of a meter's limit at which warnings are emitted."""
WARN_JOB = "usage.warn"


def find_reached_percent(used: int, limit: int | None) -> int | None:
    """Return the highest percentage of `limit` in `PERCENTS` that `used` has reached.

    Returns None if there is no limit, or if no percentage is reached.
    """
    if limit is None:
        return None
    return max((p for p in PERCENTS if used * 100 >= limit * p), default=None)


def enqueue_checks(organization_ids: Sequence[UUID]) -> None:
    """Enqueue a limit check for each organization in `organization_ids` that has limits."""
    limited_ids = [
        row.id
        for row in queries.list_organization_plans(organization_ids)
        if build_limits(row.plan, row.limits).finite_limits
    ]
    jobs.enqueue_many(WARN_JOB, [(organization_id, {}) for organization_id in limited_ids])


def warn() -> None:
    """Warn about the current organization's meters that have reached a new percentage of the limit.

    Emits `usage.threshold_reached`. Each percentage in `PERCENTS` is reported at most once per
    meter and month. If a meter has reached several new percentages, only the highest is reported.
    A meter without usage is not reported, even if its limit is 0.
    """
    limits = get_limits()
    if not limits.finite_limits:
        return
    usage = queries.read_month(tuple(limits.finite_limits))
    reached_percents = {
        meter: percent
        for meter, limit in limits.finite_limits.items()
        if usage.get_used_quantity(meter) > 0
        and (percent := find_reached_percent(usage.get_used_quantity(meter), limit)) is not None
    }
    pairs = [
        (meter, p) for meter, percent in reached_percents.items() for p in PERCENTS if p <= percent
    ]
    new_pairs = queries.insert_warnings(usage.first, pairs)
    payloads: list[ThresholdPayload] = [
        {
            "meter": str(meter),
            "percent": percent,
            "used": usage.get_used_quantity(meter),
            "limit": limits.finite_limits[meter],
            "plan": limits.plan,
            "month": usage.first.isoformat(),
        }
        for meter, percent in reached_percents.items()
        if (meter, percent) in new_pairs
    ]
    events.emit_many(emitted_events.THRESHOLD_REACHED, payloads)
