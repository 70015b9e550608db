"""The usage of predictions that were completed before usage was recorded."""

from app.kit.ids import uuid7
from tests.migrations.conftest import Migrating

REVISION = "202612021002"
# Without the organizations, documents and schemas that they belong to.
PREDICTIONS = """
ALTER TABLE predictions
    DROP CONSTRAINT fk_predictions_organization_id,
    DROP CONSTRAINT fk_predictions_organization_id_artifact_id,
    DROP CONSTRAINT fk_predictions_organization_id_schema_id,
    DROP CONSTRAINT fk_predictions_organization_id_schema_version_id;
INSERT INTO predictions (organization_id, id, artifact_id, schema_id, schema_version_id, status,
    tags, pages, prompt_tokens, completion_tokens, completed_at, created_at, updated_at)
SELECT CAST('{organization}' AS uuid), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),
    gen_random_uuid(), status, '[]', 3, 20, 10, now(), now(), now()
FROM unnest(ARRAY['completed', 'completed', 'queued', 'failed']) AS status;
"""


def test_the_usage_of_earlier_predictions_is_recorded(migrating: Migrating) -> None:
    migrating.rows(PREDICTIONS.format(organization=uuid7()))
    migrating.run("upgrade", "202612030501")
    # The usage references the organization, which these predictions do without.
    migrating.rows(
        "ALTER TABLE prediction_usage DROP CONSTRAINT fk_prediction_usage_organization_id"
    )
    migrating.run("upgrade", "202612030502")
    sums = "SELECT count(*), sum(pages), sum(prompt_tokens), sum(completion_tokens)"
    assert migrating.rows(f"{sums} FROM prediction_usage") == [(2, 6, 40, 20)]
    migrating.rows("UPDATE predictions SET status = 'completed' WHERE status = 'queued'")
    assert migrating.rows(f"{sums} FROM prediction_usage") == [(3, 9, 60, 30)]
