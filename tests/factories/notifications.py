"""Insert notifications of a user."""

from typing import Any
from uuid import UUID

from tests.factories.counts import run_sql
from tests.factories.orgs import Org

_INSERT = """
INSERT INTO notifications (organization_id, id, user_id, kind, title, body, link, read_at, in_app,
    count, created_at, updated_at)
SELECT :org, gen_random_uuid(), :user_id, :kind, :title || ' ' || i, 'Body', NULL,
    CASE WHEN :read THEN now() END, :in_app, 1, at, at
FROM (
    SELECT i, CAST(:start AS timestamptz) + i * CAST(:step AS interval) AS at
    FROM generate_series(1, :number) AS i
) AS row
RETURNING id
"""


def insert_notifications(
    org: Org,
    user_id: UUID,
    number: int = 1,
    *,
    kind: str = "mention",
    title: str = "Note",
    read: bool = False,
    in_app: bool = True,
    start: str = "2026-05-04T10:00:00Z",
    step: str = "1 minute",
) -> list[str]:
    """Insert `number` notifications of a user, oldest first, and return their ids.

    The first notification is created one `step` after `start`, and each of the others one `step`
    after the previous one.
    """
    values: dict[str, Any] = {
        "user_id": user_id,
        "number": number,
        "kind": kind,
        "title": title,
        "read": read,
        "in_app": in_app,
        "start": start,
        "step": step,
    }
    return [str(row.id) for row in run_sql(org, _INSERT, **values)]
