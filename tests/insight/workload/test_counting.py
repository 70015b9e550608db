"""The rows that are read to count a labeler's documents."""

from contextlib import closing

import psycopg2
from sqlalchemy import select

from app.insight.workload.queries import counting
from app.kit import db, tenancy
from devserver.postgres import EmbeddedPostgres
from tests.factories.teams import add_members, make_team
from tests.factories.workspace import Workspace
from tests.insight.workload.test_assignments import build_assignees
from tests.plans.explaining import explaining

_COPY = """
INSERT INTO artifacts SELECT (jsonb_populate_record(document, jsonb_build_object(
    'id', gen_random_uuid(), 'sha256', md5(CAST(document.id AS text) || n)))).*
FROM artifacts document, generate_series(1, :copies) AS n WHERE organization_id = :org
"""
_SKIP_ALL = """
INSERT INTO artifact_skips (organization_id, artifact_id, user_id, reason, created_at)
SELECT organization_id, id, :labeler, 'Too hard', now() FROM artifacts WHERE organization_id = :org
"""
_SCHEMAS, _COPIES = 20, 99


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
    with closing(psycopg2.connect(postgres.url)) as owner, owner, owner.cursor() as cursor:
        cursor.execute("ANALYZE artifacts, artifact_assignees, artifact_skips, schemas")
    criteria = counting.WorkCriteria([labeler], by_team=True)
    with org.app.app_context(), tenancy.organization(org.id), explaining(org.app) as explained:
        count = counting.count_documents_to_label(criteria)
        assert db.session().scalar(select(count.c.n)) == 0
        db.session().rollback()
    documents = _SCHEMAS * (1 + _COPIES)
    rows = sum(one.rows for one in explained)
    assert rows < 10 * documents, [one.rows_by_index for one in explained]
