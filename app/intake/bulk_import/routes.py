"""Route for bulk imports."""

from typing import Any

from app.intake.bulk_import.schemas import ImportRecords, UploadRecords
from app.intake.bulk_import.service import accepting
from app.intake.ingestion_jobs.models import IngestionJob as IngestionJobRow
from app.intake.ingestion_jobs.schemas import IngestionJob
from app.kit.api.blueprint import MIB, Blueprint
from app.kit.principal import Caller

blueprint = Blueprint("bulk-import", tag="artifacts", record_type="ingestion_jobs")


@blueprint.post(
    "/artifacts/bulk-import",
    permission="artifacts:create",
    limit="artifact_actions",
    body=ImportRecords,
    max_body=16 * MIB,
    upload=UploadRecords,
    returns=IngestionJob,
    status=202,
)
def bulk_import_artifacts(caller: Caller, body: dict[str, Any]) -> IngestionJobRow:
    """Import artifacts.

    Queues an ingestion job that creates an artifact from each record of a file, or from each file
    of a ZIP archive. The formats with records are JSON Lines with the fields `text`, `tags`,
    `name`, `external_id`, `metadata`, `schema_id`, `priority` and `due_at`; CSV with a column
    `text`, whose other columns become metadata (except `name` and `external_id`); the JSON export
    of Label Studio; and the JSON Lines export of doccano. Labels become tag sets with the source
    `import`. Content that the organization already has is counted as a duplicate. A record that
    cannot be imported becomes a failed item of the job; the other records are imported.
    """
    return accepting.import_records(caller=caller, **body)
