"""A labeler who requests a language does not wait for the documents in other languages."""

import json

from sqlalchemy import text

from migrations.policies import ROLE
from tests.factories.statements import Call, record_prepared
from tests.factories.teams import create_team
from tests.factories.workspace import Workspace
from tests.plans.explaining import Explained, explain_prepared
from tests.workflow.assignment.conftest import claim_next, insert_artifacts, to

_DOCUMENTS = 500


def _explain(workspace: Workspace, calls: list[Call]) -> list[Explained]:
    """Explain the prepared statements about artifacts."""
    plans = []
    with workspace.transaction() as session:
        session.execute(text("SET LOCAL ROLE NONE"))
        session.execute(text("ANALYZE artifacts, artifact_assignees"))
        # A small table is read completely if other tests have left few rows in it.
        session.execute(text("SET LOCAL enable_seqscan = off"))
        session.execute(text(f"SET LOCAL ROLE {ROLE}"))
        with session.connection().connection.cursor() as cursor:
            for statement, parameters in calls:
                if "artifact" in statement.name:
                    plans.append(explain_prepared(cursor, statement, parameters))
    return plans


def _count_rows(plan: Explained, table: str) -> int:
    return sum(rows for name, rows in plan.rows_by_index.items() if table in name)


def test_documents_in_other_languages_are_not_read(workspace: Workspace) -> None:
    schema = workspace.schema()
    insert_artifacts(workspace, schema, _DOCUMENTS)
    polish = workspace.artifact(schema, language="pl")
    with record_prepared() as calls:
        assert claim_next(workspace, language="uk") is None
        assert claim_next(workspace, language="pl") == polish
    plans = _explain(workspace, calls)
    assert len(plans) == 3  # two statements that find nothing, and one that claims
    for plan in plans:
        rows = _count_rows(plan, "artifacts")
        assert rows < _DOCUMENTS / 10, (plan.rows_by_index, plan.statement)


def test_the_documents_of_a_team_are_read_once(workspace: Workspace) -> None:
    assignees = json.dumps(to(team_id=create_team(workspace.org, "labeler")))
    insert_artifacts(workspace, workspace.schema(), _DOCUMENTS, assignees=assignees)
    with record_prepared() as calls:
        assert claim_next(workspace, language="uk") is None
    rows = [_count_rows(plan, "artifact_assignees") for plan in _explain(workspace, calls)]
    assert [number >= _DOCUMENTS for number in rows] == [True, False], rows
