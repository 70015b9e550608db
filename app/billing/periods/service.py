"""Service that closes billing periods; the job `ISSUE_MONTH` then issues the invoices."""

import re
from datetime import UTC, datetime
from typing import Any

from app.billing.periods import emitted_events, queries
from app.billing.seller.configuration import BillingFileError, require_configuration
from app.kit import errors, jobs, tenancy
from app.kit.days import TimeRange, get_month_bounds
from app.kit.errors import ApiError

MONTH_PATTERN = r"[1-9][0-9]{3}-(?:0[1-9]|1[0-2])"
ISSUE_MONTH = "invoices.issue_month"
"""The name of the job that issues a closed month's invoices. Its arguments are {from, to, after}.

`after` is the last organization id of the previous batch; the first job has no `after`.
"""


def get_bounds(period: str) -> TimeRange:
    """Return the start and end of a month `YYYY-MM` in UTC. The end is the next month's start.

    Raises ValueError if `period` is not a month.
    """
    if not re.fullmatch(MONTH_PATTERN, period):
        raise ValueError(f"{period!r} is not a month in the form YYYY-MM")
    return get_month_bounds(datetime.strptime(period, "%Y-%m").replace(tzinfo=UTC))


def close(*, period: str) -> dict[str, Any]:
    """Close a month for all organizations, and enqueue the job that issues the invoices.

    Emits `billing.period_closed` for each billed organization. If the month is already closed, only
    returns its data. Raises 400 `validation_error` if the month has not ended, and 409 `conflict`
    if the month is open and the billing file is missing or invalid.
    """
    start, end = get_bounds(period)
    with tenancy.across_organizations(reason="a period is closed for every organization"):
        if queries.get_transaction_time() < end:
            message = "This month has not ended in UTC yet. Close it after it has ended."
            raise errors.invalid(message, "period", ends_at=_format_utc(end))
        configuration_error = _find_configuration_error()
        if configuration_error is not None and queries.find(period) is None:
            raise configuration_error
        if queries.close(period, start, end):
            payload: emitted_events.ClosedPayload = {
                "period": period,
                "from": _format_utc(start),
                "to": _format_utc(end),
            }
            queries.emit_closed(payload, start, end)
            arguments = {"from": payload["from"], "to": payload["to"]}
            jobs.enqueue(ISSUE_MONTH, arguments, organization_id=None)
        record = queries.find(period)
        assert record is not None
    return {
        "period": period,
        "from": start,
        "to": end,
        "organizations": record.organizations,
        "closed_at": record.closed_at,
    }


def _find_configuration_error() -> ApiError | None:
    """Return a 409 error if the billing file is missing or invalid, or None if it is valid."""
    try:
        require_configuration()
    except BillingFileError as error:
        return errors.conflict(
            f"Billing periods cannot be closed yet: BILLING_FILE {error}. The billing file defines"
            " the seller and the taxes of invoices.",
            state="open",
        )
    return None


def _format_utc(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
