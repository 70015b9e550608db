"""No statement of the background's work depends on how much work was done before."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.kit.db import upgrade
from app.kit.ids import uuid7
from devserver.postgres import EmbeddedPostgres
from tests.plans import backlog, newcomer, webhooks

# The tables are filled once.
pytestmark = pytest.mark.xdist_group("plans")

ROOT = Path(__file__).parents[2]
BLOCKS = 2_000
"""More than any of these statements needs, and a hundredth of what a filled table has."""
FOLDING_BLOCKS = 20_000
"""For a thousand deltas, which change several cells each; the cells have twice as many."""
UPDATING_BLOCKS = 20_000
"""For a batch of documents, each of which is in many indexes."""
FILLED = {"jobs", "outbox_events", "schedule_runs", "idempotency_keys", "counts",
          "webhook_deliveries", "webhook_attempts"}  # fmt: skip


@pytest.fixture(scope="module")
def explained(
    postgres: EmbeddedPostgres, environ: dict[str, str]
) -> Iterator[list[dict[str, Any]]]:
    name = f"plans_{uuid7().hex[:12]}"
    url = postgres.create_database(name)
    own = {**os.environ, **environ, "DATABASE_URL": url, "PYTHONPATH": str(ROOT)}
    own["FILLING_URL"] = postgres.admin_url.removesuffix("/postgres") + f"/{name}"
    migrate = [sys.executable, "-c", f"from {upgrade.__module__} import upgrade; upgrade()"]
    subprocess.run(migrate, cwd=ROOT, env=own, check=True, timeout=300)
    command = [sys.executable, "-m", "tests.plans.background"]
    ran = subprocess.run(
        command, cwd=ROOT, env=own, capture_output=True, text=True, timeout=900, check=False
    )
    assert ran.returncode == 0, ran.stderr[-4000:]
    yield json.loads(ran.stdout)
    postgres.drop_database(name)


def test_nothing_is_read_as_a_whole(explained: list[dict[str, Any]]) -> None:
    scanning = [entry["statement"] for entry in explained if FILLED & set(entry["scanned"])]
    assert scanning == []


def test_little_is_read(explained: list[dict[str, Any]]) -> None:
    greedy = {
        entry["statement"]: entry["blocks"] for entry in explained if entry["blocks"] > BLOCKS
    }
    assert greedy.pop("SELECT fold_counts(%(limit)s)", 0) < FOLDING_BLOCKS
    for update in [
        statement for statement in greedy if any(part in statement for part in newcomer.SEEN)
    ]:
        assert greedy.pop(update) < UPDATING_BLOCKS, update
    assert greedy == {}


def test_a_batch_reads_a_new_organization_at_most_a_few_times(
    explained: list[dict[str, Any]],
) -> None:
    for part in newcomer.SEEN:
        (update,) = [entry for entry in explained if part in entry["statement"]]
        assert update["rows"] < 5 * newcomer.DOCUMENTS, (part, update["rows_by_index"])


def test_a_claim_reads_no_more_rows_with_a_longer_backlog(
    explained: list[dict[str, Any]],
) -> None:
    for part in backlog.SEEN:
        (claim,) = [entry for entry in explained if part in entry["statement"]]
        assert claim["rows"] < backlog.JOBS / 10, (part, claim["rows_by_index"])


def test_it_was_all_seen(explained: list[dict[str, Any]]) -> None:
    """The statements are there: claims, ends of leases, housekeeping."""
    seen = "\n".join(entry["statement"] for entry in explained)
    for part in ("status = 'running'", "status = 'completed'", "status = 'failed'",
                 "status = 'queued'", "leased_until = now()", "INSERT INTO schedule_runs",
                 "DELETE FROM jobs", "DELETE FROM outbox_events", "DELETE FROM schedule_runs",
                 "DELETE FROM idempotency_keys", "reported_at = now()", "fold_counts",
                 *webhooks.SEEN, *newcomer.SEEN):  # fmt: skip
        assert part in seen, part
