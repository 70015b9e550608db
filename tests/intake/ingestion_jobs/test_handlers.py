"""The handlers that run ingestion jobs, and the jobs of an earlier release."""

from collections.abc import Callable

from app.kit import db, tenancy
from app.kit.jobs.handlers import HANDLERS
from tests.factories import make_job
from tests.intake.conftest import Imports, counts

Lines = Callable[..., bytes]


def test_a_request_enqueues_a_job_for_the_handler_of_its_kind_only(
    imports: Imports, lines: Lines
) -> None:
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


def test_the_handler_of_another_kind_changes_nothing(imports: Imports, lines: Lines) -> None:
    """An earlier release enqueued a job for the handler of each kind."""
    job_id = imports.start(lines({"text": "One"}))
    job = make_job(imports.org.id, {"data": {"job_id": job_id, "kind": "import"}})
    for name in ("connectors.crawl", "extraction_jobs.run", "reprocess_jobs.run"):
        handler = HANDLERS[name]
        assert handler.on_failure is not None
        assert handler.on_retry is not None
        with imports.org.app.app_context(), tenancy.organization(imports.org.id), db.transaction():
            handler.function(job)
            handler.on_failure(job, "WorkerLost: killed")
            handler.on_retry(job.args)
    assert imports.get(job_id)["status"] == "queued"
    imports.work()
    finished = imports.get(job_id)
    assert (finished["status"], finished["counts"]) == ("completed", counts(found=1, created=1))
