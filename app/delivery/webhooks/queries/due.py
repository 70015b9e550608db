"""SQL that finds the webhooks which have deliveries to attempt now, in turns by organization.

Webhooks with pending deliveries are found one by one along the index `ix_webhook_deliveries_turns`,
so a long backlog of one costs no more than a short one, and finished deliveries cost nothing. Of an
organization so many are looked at and no more; the next look goes on after them. So whoever has
thousands of webhooks hides nobody else's.
"""

from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.delivery.webhooks.queries.pacing import (
    FAILURES_LEFT,
    FIRSTS,
    MAX_FAILING,
    OVERDUE,
    RETRIES,
    STATE,
    TESTS,
)
from app.kit import db

VISITS = 2_000
"""So many webhooks are looked at by one statement, in all and of one organization."""
VISITS_PER_ORGANIZATION = 64
LOOKS = 32
"""So many looks follow each other when one finds nothing and has not seen all webhooks."""
COUNTED = 100_000
"""Due deliveries are counted up to so many."""
RECENT_SECONDS = 30
"""Longer than an attempt and the longest pause take together."""
_FIRST = UUID(int=0)

_HAS_DUE = f"""
    (EXISTS (SELECT {TESTS}) OR w.active AND (
        EXISTS (SELECT {RETRIES} AND (
            w.failures = 0 OR w.under_way < {MAX_FAILING} AND ({FAILURES_LEFT} > 0 OR {OVERDUE})))
        OR NOT w.paused AND (w.failures = 0 OR w.under_way = 0) AND EXISTS (SELECT {FIRSTS})))
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
                       SELECT mark.webhook_id
                       FROM unnest(CAST(:marked AS uuid[]), CAST(:marks AS uuid[]))
                            AS mark (organization_id, webhook_id)
                       WHERE mark.organization_id = organization.id), :nowhere)
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
# The last two kinds of rows say where the next look goes on: in an organization, and among them.
_FIND = text(
    f"""
    {_VISITED}, judged AS (
        SELECT asked.organization_id, asked.webhook_id, w.failures, {_HAS_DUE} AS due,
               asked.generation < w.generation AND EXISTS (
                   SELECT FROM webhook_deliveries d
                   WHERE d.organization_id = asked.organization_id
                     AND d.webhook_id = asked.webhook_id AND d.generation < w.generation
                     AND d.next_attempt_at IS NOT NULL AND NOT d.test) AS outdated
        FROM visited AS asked CROSS JOIN LATERAL ({STATE}) AS w
    )
    SELECT 'found' AS kind, * FROM judged WHERE due OR outdated
    UNION ALL
    SELECT 'mark', organization_id, (array_agg(webhook_id ORDER BY webhook_id DESC))[1], 0, false,
           false
    FROM visited GROUP BY organization_id HAVING count(*) >= :per_organization
    UNION ALL
    SELECT 'last', (array_agg(organization_id ORDER BY organization_id DESC))[1], NULL, 0, false,
           false
    FROM visited HAVING count(*) >= :visits
    """  # noqa: S608 - made of constants
)
# An organization is being served while it has an attempt under way, and for a while after one
# ended. Of the others, the oldest delivery that could be attempted tells for how long nobody was.
_DEPTH = text(
    f"""
    {_VISITED}, waiting AS MATERIALIZED (
        SELECT w.* FROM visited AS asked CROSS JOIN LATERAL ({STATE}) AS w WHERE w.active
    ), served AS MATERIALIZED (
        SELECT organization_id FROM webhook_deliveries WHERE leased_until > now()
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
            LIMIT :counted) AS counted) AS depth,
        (SELECT coalesce(extract(epoch FROM now() - min(oldest.at)), 0)
         FROM waiting w CROSS JOIN LATERAL (
            SELECT least(
                (SELECT d.next_attempt_at {RETRIES} ORDER BY d.next_attempt_at LIMIT 1),
                CASE WHEN NOT w.paused THEN
                    (SELECT d.next_attempt_at {FIRSTS} ORDER BY d.next_attempt_at LIMIT 1)
                END) AS at) AS oldest
         WHERE w.organization_id NOT IN (SELECT organization_id FROM served)) AS age
    """  # noqa: S608 - made of constants
)


class DueWebhook(NamedTuple):
    """A webhook that something is to be done for.

    Attributes:
        failures: its failed attempts in a row.
        due: whether it has deliveries to attempt now.
        outdated: whether deliveries of an earlier generation are still pending: nobody abandons
            them, or somebody does at this moment.
    """

    organization_id: UUID
    webhook_id: UUID
    failures: int
    due: bool
    outdated: bool


@dataclass(slots=True)
class Finder:
    """Looks at the webhooks with pending deliveries, and goes on where its last look ended.

    `first` is the organization to begin with, `marks` the last webhook seen of organizations that
    have more. One thread may use it at a time.
    """

    first: UUID = _FIRST
    marks: dict[UUID, UUID] = field(default_factory=dict)

    @property
    def is_halfway(self) -> bool:
        """Whether the last look left webhooks for the next one."""
        return bool(self.marks) or self.first != _FIRST

    def find_any(self) -> list[DueWebhook]:
        """Look until something is found to do, or all webhooks were looked at."""
        for _ in range(LOOKS):
            found = self.find()
            if any(one.due for one in found) or not self.is_halfway:
                break
        return found

    def find(self) -> list[DueWebhook]:
        """Return the webhooks that something is to be done for, by organization."""
        values = {
            "first": self.first,
            "marked": [str(organization) for organization in self.marks],
            "marks": [str(webhook) for webhook in self.marks.values()],
            "nowhere": _FIRST,
            "visits": VISITS,
            "per_organization": VISITS_PER_ORGANIZATION,
        }
        found: list[DueWebhook] = []
        new_marks: dict[UUID, UUID] = {}
        last = None
        for kind, *row in db.session().execute(_FIND, values):
            if kind == "found":
                found.append(DueWebhook(*row))
            elif kind == "mark":
                new_marks[row[0]] = row[1]
            else:
                last = row[0]
        self._move(new_marks, last)
        return found

    def _move(self, new_marks: dict[UUID, UUID], last: UUID | None) -> None:
        """Note where the next look goes on. `last` is the organization at which this one stopped.

        Some webhooks of that one may have been left out, so the next look begins with it.
        """
        unseen = {
            organization: mark
            for organization, mark in self.marks.items()
            if organization < self.first or (last is not None and organization >= last)
        }
        self.marks = unseen | new_marks
        self.first = last or _FIRST


def depth() -> tuple[int, float]:
    """Return how many deliveries are due, and for how many seconds one could have been attempted.

    Deliveries of inactive webhooks do not count. The time of those whose webhook is paused does
    not, nor that of an organization to which something was sent within `RECENT_SECONDS`.
    """
    values = {
        "first": _FIRST,
        "marked": [],
        "marks": [],
        "nowhere": _FIRST,
        "visits": VISITS,
        "per_organization": VISITS,
        "counted": COUNTED,
        "recent": RECENT_SECONDS,
    }
    row = db.session().execute(_DEPTH, values).one()
    return int(row.depth), float(row.age)
