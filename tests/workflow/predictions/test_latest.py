"""The latest prediction for a document: which rows are read to find it, and to purge the others."""

from app.kit import tenancy
from app.workflow.predictions.queries import purging, records
from app.workflow.routing_rules.queries import documents
from tests.factories.workspace import Workspace
from tests.plans.explaining import explaining

_COPY = """
    INSERT INTO predictions (organization_id, id, artifact_id, schema_id, schema_version_id, status,
        tags, pages, prompt_tokens, completion_tokens, created_at, updated_at)
    SELECT organization_id, gen_random_uuid(), :artifact_id, schema_id, schema_version_id, status,
        tags, 1, 0, 0, now() - make_interval(days => 100, secs => -number), now()
    FROM predictions, generate_series(1, :count) number WHERE id = :id
"""


def test_only_predictions_for_the_document_are_read(trainable_workspace: Workspace) -> None:
    workspace, app = trainable_workspace, trainable_workspace.org.app
    first, *others = (workspace.artifact(workspace.schema_id) for _ in range(11))  # type: ignore[attr-defined]
    prediction_id = workspace.predict(first, [])
    workspace.sql(
        "UPDATE predictions SET created_at = now() - interval '200 days' WHERE id = :id",
        id=prediction_id,
    )
    for artifact_id in others:
        workspace.sql(_COPY, artifact_id=artifact_id, count=300, id=prediction_id)
    with explaining(app) as explained, app.app_context():
        with tenancy.organization(workspace.org.id):
            assert records.find_latest(first) is not None
            documents.list_rows([first], frozenset({"confidence"}))
        with tenancy.across_organizations(reason="a test is the job"):
            purging.purge_outdated(90, lambda _position: None)
    reads = [one.rows_by_index for one in explained if "candidate" in one.statement]
    assert len(reads) >= 3
    # The index of schemas leads to the predictions for all documents of the schema.
    assert [rows for rows in reads if "ix_predictions_created" in rows] == []
