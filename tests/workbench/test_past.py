"""People use the workbench in an organization with a past, which SQL gives it."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from sqlalchemy import NullPool, create_engine, make_url, text

from tests.workbench.conftest import CONTROL_PLANE_TOKEN
from tests.workbench.driver import Walker

pytestmark = pytest.mark.xdist_group("workbench")

WALK = Path(__file__).parent / "driven" / "past.mjs"
Sql = Callable[..., Any]

_OLD = "UPDATE organizations SET created_at = :since WHERE slug = :slug"
_ALWAYS_THIS_PLAN = """
DELETE FROM plan_changes WHERE organization_id IN (SELECT id FROM organizations WHERE slug = :slug)
"""

# Labels of the last 40 days; in the last seven, the values of a choice shift.
_LABELED = """
WITH given AS (
    SELECT gen_random_uuid() AS artifact_id, gen_random_uuid() AS tag_set_id, number,
           now() - (40 - number * 40.0 / 400) * interval '1 day' AS at
    FROM generate_series(0, 399) AS number
), place AS (
    SELECT s.organization_id AS org, s.id AS schema, s.current_version_id AS version,
           m.user_id AS person
    FROM schemas s JOIN memberships m ON m.organization_id = s.organization_id WHERE s.id = :schema
), artifact AS (
    INSERT INTO artifacts (organization_id, id, name, schema_id, metadata, priority, gold, archived,
        media_type, size_bytes, sha256, text_length, status, assignees, label_counts, created_at,
        updated_at, revision)
    SELECT org, artifact_id, 'a.txt', schema, '{}', 50, false, false, 'text/plain', 1,
        encode(sha256(convert_to(CAST(artifact_id AS text), 'UTF8')), 'hex'), 1, 'done', '[]',
        '{"draft": 0, "submitted": 0, "accepted": 1, "rejected": 0}', at, at, 1
    FROM given, place
), tag_set AS (
    INSERT INTO tag_sets (organization_id, id, artifact_id, schema_id, schema_version_id,
        labeler_id, reviewer_id, source, tags, status, submitted_at, decided_at, seconds_spent,
        comment_count, rejections, review_rank, escalated, flags, created_at, updated_at, revision)
    SELECT org, tag_set_id, artifact_id, schema, version, person, person, 'human',
        jsonb_build_array(jsonb_build_object('field', 'kind', 'row', NULL, 'value',
            CASE WHEN (number % 5 = 0) = (number < 330) THEN 'letter' ELSE 'invoice' END)),
        'accepted', at, at, 30, 0, 0, 0, false, '[]', at, at, 2
    FROM given, place
)
INSERT INTO tag_set_revisions
    (organization_id, tag_set_id, number, tags, author_id, kind, schema_id, created_at)
SELECT org, tag_set_id, 2, '[]', person, 'accept', schema, at FROM given, place
"""


@pytest.fixture(scope="module")
def sql(data_dir: Path) -> Iterator[Sql]:
    """Return a function that runs a statement in the database of the service."""
    environment = json.loads((data_dir / "running.json").read_text())["environment"]
    url = make_url(environment["DATABASE_URL"]).set(drivername="postgresql+psycopg2")
    engine = create_engine(url, poolclass=NullPool)

    def run(statement: str, **values: Any) -> None:
        with engine.begin() as connection:
            connection.execute(text("SET LOCAL app.all_organizations = 'on'"))
            connection.execute(text(statement), values)

    yield run
    engine.dispose()


def test_an_owner_downloads_the_invoice_of_a_closed_month(walker: Walker, sql: Sql) -> None:
    owner = walker.walk(WALK, "begin_to_pay")
    slug = owner["organizations"][0]["slug"]
    # No other organization is that old, and no other run closes the same month.
    month = f"{random.randint(1600, 1999)}-{random.randint(1, 12):02}"
    sql(_ALWAYS_THIS_PLAN, slug=slug)
    sql(_OLD, slug=slug, since=f"{month}-01T00:00:00Z")
    url = f"{walker.base}/api/v1/internal/billing/close-period"
    headers = {"Authorization": f"Bearer {CONTROL_PLANE_TOKEN}"}
    closed = requests.post(url, json={"period": month}, headers=headers, timeout=60)
    assert closed.ok, closed.text
    walker.walk(WALK, "wait_for_an_invoice", owner=owner)
    sql(_OLD, slug=slug, since="2026-11-01T00:00:00Z")
    walker.walk(WALK, "an_invoice_is_downloaded", owner=owner)


def test_a_reviewer_finds_and_acknowledges_drift(walker: Walker, sql: Sql) -> None:
    prepared = walker.walk(WALK, "publish_a_schema")
    sql(_LABELED, schema=prepared["schema_id"])
    walker.walk(WALK, "drift_is_found_and_acknowledged", owner=prepared["owner"])
