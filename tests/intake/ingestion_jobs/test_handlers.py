"""The handlers that run ingestion jobs."""

from tests.intake.conftest import Imports, lines


def test_a_request_enqueues_a_job_for_the_handler_of_its_kind_only(imports: Imports) -> None:
    job_id = imports.start(lines({"text": "One"}))
    rows = imports.sql(
        "SELECT function FROM jobs"
        " WHERE organization_id = :org AND args->'data'->>'job_id' = :job_id",
        org=imports.org.id,
        job_id=job_id,
    )
    assert [row.function for row in rows] == ["bulk_import.run"]
    assert imports.events("ingestion_job.import_requested") == [
        {"job_id": job_id, "kind": "import"}
    ]
