"""SQL queries that read webhook statistics from the delivery counters."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import Subquery, func, select

from app.delivery.webhooks.catalog import SUBSCRIBABLE
from app.delivery.webhooks.counters import DELIVERIES, OUTCOMES
from app.delivery.webhooks.models import DeliveryStatus
from app.kit import counters, db
from app.kit.counters import BucketSpan

StatusCounts = dict[str, int]
"""The number of deliveries by status."""


def count_deliveries_by_status(
    webhook_ids: Sequence[UUID], since: datetime
) -> defaultdict[UUID, StatusCounts]:
    """Return the number of deliveries by status for each webhook, excluding test deliveries.

    `since` is the start of an hour. Deliveries that have ended are counted if they were created at
    `since` or later. Pending deliveries are counted regardless of their age.
    """
    counts: defaultdict[UUID, StatusCounts] = defaultdict(dict)
    if not webhook_ids:
        return counts
    dimensions, filters = ("webhook_id", "status"), {"webhook_id": list(webhook_ids)}
    pending_filters = {**filters, "status": DeliveryStatus.PENDING.value, "event": SUBSCRIBABLE}
    span = BucketSpan("created", since, None)
    for cells in (
        counters.select_cells(OUTCOMES, dimensions, filters, span=span),
        counters.select_cells(DELIVERIES, dimensions, pending_filters),
    ):
        _add_counts(counts, cells)
    return counts


def _add_counts(counts: defaultdict[UUID, StatusCounts], cells: Subquery) -> None:
    statement = select(cells.c.webhook_id, cells.c.status, func.sum(cells.c.n)).group_by(
        cells.c.webhook_id, cells.c.status
    )
    for webhook_id, status, count in db.session().execute(statement):
        counts[UUID(webhook_id)][status] = int(count)
