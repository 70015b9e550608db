"""Counts equal the number of rows, even under concurrent writes."""

from functools import partial
from random import Random
from typing import Any

import pytest
from sqlalchemy import text

from app.kit import db, tenancy
from tests.factories import Org
from tests.factories.counts import find_differences, fold, insert_artifacts, run_sql
from tests.factories.queueing import run_concurrently

WRITERS = 4
ROUNDS = 25
# Rows are locked in the order of their ids, so that two writers never cause a deadlock.
_SOME = """
WITH chosen AS (
    SELECT id FROM artifacts WHERE organization_id = :org ORDER BY id
    OFFSET :skip LIMIT :few FOR UPDATE
)
"""
_WRITES = (
    "UPDATE artifacts SET status = 'done' WHERE id IN (SELECT id FROM chosen)",
    "UPDATE artifacts SET archived = NOT archived WHERE id IN (SELECT id FROM chosen)",
    "UPDATE artifacts SET due_at = created_at, gold = NOT gold WHERE id IN (SELECT id FROM chosen)",
    "UPDATE artifacts SET assignees = '[]' WHERE id IN (SELECT id FROM chosen)",
    "DELETE FROM artifacts WHERE id IN (SELECT id FROM chosen)",
)
_GROUPED = "SELECT status, count(*) AS n FROM artifacts WHERE NOT archived GROUP BY status"


def _write(org: Org, seed: int) -> None:
    chance = Random(seed)
    for _ in range(ROUNDS):
        if chance.random() < 0.3:
            insert_artifacts(org, chance.randint(1, 20))
        else:
            _change(org, chance)
        if chance.random() < 0.2:
            fold(org.app)


def _change(org: Org, chance: Random) -> None:
    """Change a few rows in a transaction. Every third transaction is rolled back."""
    values = {"org": org.id, "skip": chance.randint(0, 60), "few": chance.randint(1, 15)}
    with org.app.app_context(), tenancy.organization(org.id):
        db.session().execute(text(_SOME + chance.choice(_WRITES)), values)
        if chance.random() < 0.33:
            db.session().rollback()
        else:
            db.session().commit()


@pytest.mark.parametrize("seed", [1, 2])
def test_random_writes_at_once(org: Org, other_org: Org, seed: int) -> None:
    insert_artifacts(other_org, 30)
    insert_artifacts(org, 60)
    run_concurrently(*(partial(_write, org, 100 * seed + number) for number in range(WRITERS)))
    assert find_differences(org) == []
    _check_totals(org)
    fold(org.app)
    assert find_differences(org) == []
    _check_totals(org)
    assert find_differences(other_org) == []
    assert _get(other_org, "archived=any") == 30


def _check_totals(org: Org) -> None:
    """Check that the totals in the API equal the number of rows."""
    rows = {row.status: row.n for row in run_sql(org, _GROUPED)}
    for status in ("processing", "ready", "in_progress", "in_review", "done", "failed"):
        assert _get(org, f"status={status}") == rows.get(status, 0)
    assert _get(org, "") == sum(rows.values())


def _get(org: Org, query: str) -> Any:
    return org.api("viewer").get(f"/artifacts?page_size=1&{query}").json["meta"]["total"]
