"""SQL queries that find webhooks with deliveries to attempt now, fairly for all organizations.

Webhooks with pending deliveries are found one by one along the index `ix_webhook_deliveries_order`,
so the cost of a search depends neither on the length of a backlog nor on the number of finished
deliveries. One search visits a limited number of webhooks of each organization, and the next search
continues after them. Therefore, an organization with thousands of webhooks does not delay the
webhooks of other organizations.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.delivery.webhooks.queries.pacing import (
    FAILURES_LEFT,
    FIRST_ATTEMPTS,
    MAX_FAILING,
    OVERDUE,
    REPLAYS,
    RETRIES,
    TEST_DELIVERIES,
    WEBHOOK_STATE,
)
from app.kit import db
from app.kit.leases import IS_LEASED

MAX_VISITS = 2_000
"""The maximum number of webhooks that one statement visits."""
MAX_VISITS_PER_ORGANIZATION = 64
MAX_SEARCHES = 32
"""The maximum number of consecutive searches that find no due deliveries."""
MAX_COUNTED = 100_000
"""The maximum number of due deliveries to count."""
RECENT_SECONDS = 30
"""The time in seconds after an attempt during which an organization counts as being served. It
exceeds the sum of the longest attempt and the longest pause."""
_NIL_ID = UUID(int=0)

_HAS_DUE = f"""
    (EXISTS (SELECT {TEST_DELIVERIES}) OR w.active AND (
        EXISTS (SELECT {RETRIES} AND (
            w.failures = 0 OR w.under_way < {MAX_FAILING} AND ({FAILURES_LEFT} > 0 OR {OVERDUE})))
        OR NOT w.paused AND (w.failures = 0 OR w.under_way = 0)
            AND (EXISTS (SELECT {FIRST_ATTEMPTS}) OR EXISTS (SELECT {REPLAYS}))))
"""
_VISITED = """
    WITH RECURSIVE organization AS (
        (SELECT organization_id AS id FROM webhook_deliveries
         WHERE next_attempt_at IS NOT NULL AND organization_id >= :first
         ORDER BY organization_id LIMIT 1)
        UNION ALL
        SELECT following.* FROM organization CROSS JOIN LATERAL (
            SELECT d.organization_id FROM webhook_deliveries d
            WHERE d.next_attempt_at IS NOT NULL AND d.organization_id > organization.id
            ORDER BY d.organization_id LIMIT 1) AS following
    ), visited AS MATERIALIZED (
        SELECT organization.id AS organization_id, hook.* FROM organization CROSS JOIN LATERAL (
            WITH RECURSIVE hook AS (
                (SELECT d.webhook_id, d.generation FROM webhook_deliveries d
                 WHERE d.next_attempt_at IS NOT NULL AND d.organization_id = organization.id
                   AND d.webhook_id > coalesce((
                       SELECT last_visited.webhook_id
                       FROM unnest(
                           CAST(:organization_ids AS uuid[]), CAST(:webhook_ids AS uuid[])
                       ) AS last_visited (organization_id, webhook_id)
                       WHERE last_visited.organization_id = organization.id), :nil_id)
                 ORDER BY d.webhook_id, d.generation LIMIT 1)
                UNION ALL
                SELECT following.* FROM hook CROSS JOIN LATERAL (
                    SELECT d.webhook_id, d.generation FROM webhook_deliveries d
                    WHERE d.next_attempt_at IS NOT NULL AND d.organization_id = organization.id
                      AND d.webhook_id > hook.webhook_id
                    ORDER BY d.webhook_id, d.generation LIMIT 1) AS following
            ) SELECT * FROM hook LIMIT :per_organization) AS hook
        LIMIT :visits
    )
"""
# This cheap check runs before each search, because planning a search takes ten times as long and
# several searches begin each second.
_FIND_PENDING = text(
    "SELECT organization_id FROM webhook_deliveries WHERE next_attempt_at IS NOT NULL"
    " ORDER BY organization_id LIMIT 1"
)
# Rows with the kind `webhook` are the results. Rows with the kind `last_visited` contain the
# position at which the next search continues within an organization. The row with the kind
# `last_organization` contains the position among organizations.
_FIND = text(
    f"""
    {_VISITED}, checked AS (
        SELECT requested.organization_id, requested.webhook_id, w.failures, {_HAS_DUE} AS due,
               requested.generation < w.generation AND EXISTS (
                   SELECT FROM webhook_deliveries d
                   WHERE d.organization_id = requested.organization_id
                     AND d.webhook_id = requested.webhook_id AND d.generation < w.generation
                     AND d.next_attempt_at IS NOT NULL AND NOT d.test) AS outdated
        FROM visited AS requested CROSS JOIN LATERAL ({WEBHOOK_STATE}) AS w
    )
    SELECT 'webhook' AS kind, * FROM checked WHERE due OR outdated
    UNION ALL
    SELECT 'last_visited', organization_id,
           (array_agg(webhook_id ORDER BY webhook_id DESC))[1], 0, false, false
    FROM visited GROUP BY organization_id HAVING count(*) >= :per_organization
    UNION ALL
    SELECT 'last_organization',
           (array_agg(organization_id ORDER BY organization_id DESC))[1], NULL, 0, false, false
    FROM visited HAVING count(*) >= :visits
    """  # noqa: S608 - made of constants
)
# An organization is being served while it has an attempt under way, and for `RECENT_SECONDS` after
# an attempt ended. `age` is the waiting time of the oldest delivery that could be attempted in an
# organization that is not being served.
_MEASURE_BACKLOG = text(
    f"""
    {_VISITED}, waiting AS MATERIALIZED (
        SELECT w.* FROM visited AS requested CROSS JOIN LATERAL ({WEBHOOK_STATE}) AS w
        WHERE w.active
    ), served AS MATERIALIZED (
        SELECT organization_id FROM webhook_deliveries WHERE {IS_LEASED}
        UNION
        SELECT organization_id FROM waiting
        WHERE last_triggered_at > now() - make_interval(secs => :recent)
    )
    SELECT
        (SELECT count(*) FROM (
            SELECT FROM waiting w CROSS JOIN LATERAL (
                SELECT FROM webhook_deliveries d
                WHERE d.organization_id = w.organization_id AND d.webhook_id = w.id
                  AND d.generation = w.generation AND d.next_attempt_at <= now()) AS due
            LIMIT :max_count) AS counted) AS depth,
        (SELECT coalesce(extract(epoch FROM now() - min(oldest.at)), 0)
         FROM waiting w CROSS JOIN LATERAL (
            SELECT least(
                (SELECT d.next_attempt_at {RETRIES} ORDER BY d.next_attempt_at LIMIT 1),
                CASE WHEN NOT w.paused THEN
                    (SELECT d.next_attempt_at {FIRST_ATTEMPTS} ORDER BY d.next_attempt_at LIMIT 1)
                END) AS at) AS oldest
         WHERE w.organization_id NOT IN (SELECT organization_id FROM served)) AS age
    """  # noqa: S608 - made of constants
)


class DueWebhook(NamedTuple):
    """A webhook with due or outdated deliveries.

    Attributes:
        failures: the number of consecutive failed attempts.
        due: whether the webhook has deliveries to attempt now.
        outdated: whether deliveries of an earlier generation are still pending. Another transaction
            may be about to abandon these deliveries.
    """

    organization_id: UUID
    webhook_id: UUID
    failures: int
    due: bool
    outdated: bool


@dataclass(slots=True)
class DueWebhookFinder:
    """Finds webhooks with due deliveries; each search continues where the last one ended.

    The next search starts at `first_organization_id`. `last_visited_webhook_ids` maps each
    organization with unvisited webhooks to its last visited webhook. Not thread-safe.
    """

    first_organization_id: UUID = _NIL_ID
    last_visited_webhook_ids: dict[UUID, UUID] = field(default_factory=dict)

    @property
    def has_more(self) -> bool:
        """Return whether the last search left webhooks for the next search."""
        return bool(self.last_visited_webhook_ids) or self.first_organization_id != _NIL_ID

    def find_due(self) -> list[DueWebhook]:
        """Find webhooks with due deliveries, in one or more searches.

        Searches until due deliveries are found or no webhooks are left to visit, at most
        MAX_SEARCHES times. Returns the webhooks that the last search found.
        """
        for _ in range(MAX_SEARCHES):
            webhooks = self.search_once()
            if any(webhook.due for webhook in webhooks) or not self.has_more:
                break
        return webhooks

    def search_once(self) -> list[DueWebhook]:
        """Run one search, and return the visited webhooks with due or outdated deliveries."""
        if db.session().execute(_FIND_PENDING).first() is None:
            self._store_position({}, None)
            return []
        values = self.build_values(MAX_VISITS_PER_ORGANIZATION)
        webhooks: list[DueWebhook] = []
        new_last_visited_ids: dict[UUID, UUID] = {}
        last_organization_id = None
        for kind, *row in db.session().execute(_FIND, values):
            if kind == "webhook":
                webhooks.append(DueWebhook(*row))
            elif kind == "last_visited":
                new_last_visited_ids[row[0]] = row[1]
            else:
                last_organization_id = row[0]
        self._store_position(new_last_visited_ids, last_organization_id)
        return webhooks

    def build_values(self, per_organization: int) -> dict[str, Any]:
        """Return the SQL parameters for a search.

        `per_organization` is the maximum number of webhooks to visit in each organization.
        """
        return {
            "first": self.first_organization_id,
            "organization_ids": list(map(str, self.last_visited_webhook_ids)),
            "webhook_ids": list(map(str, self.last_visited_webhook_ids.values())),
            "nil_id": _NIL_ID,
            "visits": MAX_VISITS,
            "per_organization": per_organization,
        }

    def _store_position(
        self, new_last_visited_ids: dict[UUID, UUID], last_organization_id: UUID | None
    ) -> None:
        """Store the position at which the next search continues.

        This search stopped at the organization `last_organization_id`, and may not have visited all
        of its webhooks, so the next search begins with this organization. None means that the
        search visited every organization.
        """
        kept_last_visited_ids = {
            id_: webhook_id
            for id_, webhook_id in self.last_visited_webhook_ids.items()
            if id_ < self.first_organization_id
            or (last_organization_id is not None and id_ >= last_organization_id)
        }
        self.last_visited_webhook_ids = kept_last_visited_ids | new_last_visited_ids
        self.first_organization_id = last_organization_id or _NIL_ID


def measure_backlog() -> tuple[int, float]:
    """Return the queue depth, and the age in seconds of the oldest due delivery.

    The depth is the number of due deliveries, at most `MAX_COUNTED`. Deliveries for inactive
    webhooks are not counted. The age does not consider test deliveries, replayed deliveries,
    deliveries whose attempt is under way, first attempts for paused webhooks, and deliveries of
    organizations that are being served. An organization is being served while an attempt is under
    way, and for `RECENT_SECONDS` after an attempt.
    """
    values = DueWebhookFinder().build_values(MAX_VISITS)
    values |= {"max_count": MAX_COUNTED, "recent": RECENT_SECONDS}
    row = db.session().execute(_MEASURE_BACKLOG, values).one()
    return int(row.depth), float(row.age)
