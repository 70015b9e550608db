"""A labeler who requests a language does not wait for the documents in other languages."""

from sqlalchemy import text

from app.kit import db, tenancy
from migrations.policies import ROLE
from tests.factories.statements import record_prepared
from tests.factories.workspace import Workspace
from tests.plans.explaining import explain_prepared
from tests.workflow.assignment.conftest import Draw

_DOCUMENTS = 500
_FILL = """
INSERT INTO artifacts (organization_id, id, name, schema_id, metadata, priority, gold, archived,
    media_type, size_bytes, sha256, page_count, language, text_length, status, assignees,
    label_counts, created_at, updated_at, revision)
SELECT :org, gen_random_uuid(), 'document ' || n, :schema, '{}', 50, false, false, 'text/plain',
    100, md5(:org || n) || md5(n || :org), 1, 'en', 100, 'ready', '[]',
    '{"draft": 0, "submitted": 0, "accepted": 0, "rejected": 0}', now(), now(), 1
FROM generate_series(1, :documents) AS n
"""


def test_documents_in_other_languages_are_not_read(workspace: Workspace, draw: Draw) -> None:
    org, schema = workspace.org, workspace.schema()
    values = {"org": str(org.id), "schema": str(schema), "documents": _DOCUMENTS}
    workspace.sql(_FILL, **values)
    polish = workspace.artifact(schema, language="pl")
    with record_prepared() as calls:
        assert draw(language="uk") is None
        assert draw(language="pl") == polish
    plans = []
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        session.execute(text("SET LOCAL ROLE NONE"))
        session.execute(text("ANALYZE artifacts"))
        session.execute(text(f"SET LOCAL ROLE {ROLE}"))
        with session.connection().connection.cursor() as cursor:
            for statement, parameters in calls:
                if "artifact" in statement.name:
                    plans.append(explain_prepared(cursor, statement, parameters))
    assert len(plans) == 4  # three statements that find nothing, and one that claims
    for plan in plans:
        indexes = {name for name in plan.rows_by_index if "artifacts" in name}
        rows = sum(plan.rows_by_index[name] for name in indexes)
        assert rows < _DOCUMENTS / 10, (plan.rows_by_index, plan.statement)
