"""The rows that are read to count and to list a user's work."""

from contextlib import closing
from uuid import UUID

import psycopg2
import pytest
from sqlalchemy import select

from app.insight.workload.queries import assignments, counting, teams
from app.insight.workload.queries.assignments import WorkTypes
from app.kit import db
from app.kit.pagination import PageRequest
from devserver.postgres import EmbeddedPostgres
from tests.factories import Org
from tests.factories.teams import add_members, make_team
from tests.factories.workspace import Workspace
from tests.insight.workload.test_assignments import assign_tag_sets, build_assignees, create_merge
from tests.plans.explaining import explaining

_COPY = """
INSERT INTO artifacts SELECT (jsonb_populate_record(document, jsonb_build_object(
    'id', gen_random_uuid(),
    'sha256', encode(sha256(convert_to(CAST(document.id AS text) || n, 'UTF8')), 'hex')))).*
FROM artifacts document, generate_series(1, :copies) AS n WHERE organization_id = :org
"""
_SKIP_ALL = """
INSERT INTO artifact_skips (organization_id, artifact_id, user_id, reason, created_at)
SELECT organization_id, id, :labeler, 'Too hard', now() FROM artifacts WHERE organization_id = :org
"""
_BEGIN_ALL = """
INSERT INTO tag_sets (organization_id, id, artifact_id, schema_id, schema_version_id, labeler_id,
    source, tags, status, seconds_spent, comment_count, rejections, review_rank, escalated, flags,
    created_at, updated_at, revision)
SELECT draft.organization_id, gen_random_uuid(), document.id, draft.schema_id,
    draft.schema_version_id, draft.labeler_id, draft.source, draft.tags, draft.status, 0, 0, 0, 0,
    false, '[]', draft.created_at, draft.updated_at, 1
FROM tag_sets draft, artifacts document
WHERE draft.organization_id = :org AND document.organization_id = :org
  AND document.id <> draft.artifact_id
"""
_ASSIGN_COPIES = """
INSERT INTO tag_sets (organization_id, id, artifact_id, schema_id, schema_version_id, labeler_id,
    source, tags, status, submitted_at, assignee_id, seconds_spent, comment_count, rejections,
    review_rank, escalated, flags, created_at, updated_at, revision)
SELECT organization_id, gen_random_uuid(), artifact_id, schema_id, schema_version_id, labeler_id,
    source, tags, status, submitted_at, :reviewer, 0, 0, 0, review_rank, false, '[]', created_at,
    updated_at, 1
FROM tag_sets, generate_series(1, :copies) WHERE id = :id
"""
_SCHEMAS, _COPIES = 20, 99
_DRAFTS = 2_000
_REVIEWS = 2_000


def _analyze(postgres: EmbeddedPostgres) -> None:
    with closing(psycopg2.connect(postgres.url)) as owner, owner, owner.cursor() as cursor:
        cursor.execute("ANALYZE artifacts, artifact_assignees, artifact_skips, schemas, tag_sets")


def test_each_skipped_document_is_read_once(
    workspace: Workspace, postgres: EmbeddedPostgres
) -> None:
    org, labeler = workspace.org, workspace.org.users["labeler"]
    team = make_team(org, "Labels")
    add_members(org, team, "labeler")
    for _ in range(_SCHEMAS):
        workspace.artifact(workspace.schema(), assignees=build_assignees(team_id=team["id"]))
    workspace.sql(_COPY, org=org.id, copies=_COPIES)
    workspace.sql(_SKIP_ALL, org=org.id, labeler=labeler)
    _analyze(postgres)
    criteria = counting.WorkCriteria([labeler], by_team=True)
    with org.transaction(), explaining(org.app) as explained:
        count = counting.build_labeling_counts(criteria)
        assert db.session().scalar(select(count.c.n)) == 0
    documents = _SCHEMAS * (1 + _COPIES)
    rows = sum(statement.rows for statement in explained)
    assert rows < 10 * documents, [statement.rows_by_index for statement in explained]


def _begin_drafts(org: Org) -> UUID:
    """Create a team whose only member has begun all of its documents, and return its id.

    Another user has skipped all of these documents.
    """
    workspace, team = Workspace(org), make_team(org, "Labels")
    add_members(org, team, "labeler")
    artifact = workspace.artifact(assignees=build_assignees(team_id=team["id"]))
    workspace.sql(_COPY, org=org.id, copies=_DRAFTS - 1)
    workspace.saved(artifact)
    workspace.sql(_BEGIN_ALL, org=org.id)
    workspace.sql(_SKIP_ALL, org=org.id, labeler=org.users["reviewer"])
    return UUID(team["id"])


@pytest.mark.parametrize("is_new", [False, True])
def test_each_draft_is_read_a_few_times(
    org: Org, other_org: Org, postgres: EmbeddedPostgres, is_new: bool
) -> None:
    """A new organization is newer than the statistics; the planner expects a single row."""
    if is_new:
        _begin_drafts(other_org)
        _analyze(postgres)
    _begin_drafts(org)
    if not is_new:
        _analyze(postgres)
    criteria = counting.WorkCriteria([org.users["labeler"]], by_team=True)
    work_types = WorkTypes(has_labeling=True, has_reviews=False, has_self_review=False)
    with org.transaction(), explaining(org.app) as explained:
        request = PageRequest(None, 10, "urgency", b"")
        assert assignments.list_assignments(request, criteria, work_types).total == _DRAFTS
    rows = [statement.rows + statement.cte_rows for statement in explained]
    assert max(rows) < 50 * _DRAFTS, rows


def test_each_draft_is_looked_up_once_in_the_work_of_a_team(org: Org) -> None:
    team_id = _begin_drafts(org)
    with org.transaction(), explaining(org.app) as explained:
        assert teams.count_pending_work(team_id, now=db.utc_now()).open == 0
    (statement,) = explained
    assert statement.rows < 10 * _DRAFTS, statement.rows_by_index


def test_assigned_reviews_are_counted_without_reading_them(
    workspace: Workspace, postgres: EmbeddedPostgres
) -> None:
    org, reviewer = workspace.org, workspace.org.users["reviewer"]
    merged = create_merge(workspace, "labeler", "reviewer")
    sent = workspace.submitted()
    workspace.sql(_ASSIGN_COPIES, id=sent["id"], copies=_REVIEWS, reviewer=reviewer)
    assign_tag_sets(workspace, f"id = '{merged['id']}'", "reviewer")
    _analyze(postgres)
    criteria = counting.WorkCriteria([reviewer])
    with org.transaction(), explaining(org.app) as explained:
        count = counting.build_review_counts(criteria, self_review=False)
        assert db.session().scalar(select(count.c.n)) == _REVIEWS
    rows = sum(statement.rows for statement in explained)
    assert rows < _REVIEWS / 10, [statement.rows_by_index for statement in explained]
