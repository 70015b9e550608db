"""SQL that defines the latest prediction for an artifact.

The latest prediction is the newest completed one for the artifact and its current schema. Reading,
purging and routing use the same definition, so the latest prediction is never purged.
"""

from app.workflow.predictions.models import PredictionStatus


def build_latest(column_names: str, artifact: str) -> str:
    """Build a SELECT of the columns `column_names` of the latest prediction for an artifact.

    `artifact` is the alias of the table `artifacts` in the surrounding query. There is no row if
    the artifact has no such prediction.
    """
    return f"""
        SELECT {column_names} {_build_from_clause(artifact, "id")}
        ORDER BY candidate.created_at DESC, candidate.id DESC LIMIT 1
    """


def build_replaced_condition(prediction: str) -> str:
    """Build the condition that a completed prediction can no longer be the latest.

    This is true if a newer completed prediction for the same artifact and schema exists.
    `prediction` is the alias of the table `predictions` in the surrounding query.
    """
    return f"""EXISTS (
        SELECT {_build_from_clause(prediction, "artifact_id")}
         AND (candidate.created_at, candidate.id) > ({prediction}.created_at, {prediction}.id)
    )"""


def _build_from_clause(source: str, id_column: str) -> str:
    """Build a FROM clause that selects the completed predictions for one artifact and schema.

    `source` is the alias of a table in the surrounding query. Its column `schema_id` contains the
    id of the schema, and the column with the name `id_column` contains the id of the artifact.
    """
    # With `=`, the planner sometimes reads all predictions for the schema, because the index with
    # the schema has the same order. It cannot use an index for IS NOT DISTINCT FROM.
    return f"""
        FROM predictions candidate
        WHERE candidate.organization_id = {source}.organization_id
         AND candidate.artifact_id = {source}.{id_column}
         AND candidate.schema_id IS NOT DISTINCT FROM {source}.schema_id
         AND candidate.status = '{PredictionStatus.COMPLETED}'
    """
