"""`flask import` and `flask crawl`: commands that import a local file and crawl a connector."""

import time
from pathlib import Path
from uuid import UUID

import click
from flask.cli import with_appcontext

from app.commands.running import (
    EXIT_FINDINGS,
    as_json,
    bind_organization,
    run_operation,
    show_progress,
    show_record,
)
from app.engines.imports import FORMATS
from app.intake.bulk_import.service import accepting
from app.intake.bulk_import.service.labels import LabelsAs
from app.intake.connectors.service import managing
from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.service import reading
from app.intake.ingestion_jobs.statuses import JobStatus
from app.kit import db, tenancy

_POLL_INTERVAL_SECONDS = 0.5


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--org", "slug", required=True, help="Slug of the organization.")
@click.option(
    "--format", "format_id", type=click.Choice(FORMATS), help="Format of FILE. Default: detected."
)
@click.option("--schema", "schema_id", type=click.UUID, help="Id of the documents' schema.")
@click.option(
    "--labels",
    "labels_as",
    type=click.Choice(tuple(LabelsAs)),
    default=LabelsAs.SUBMITTED,
    help="Import labels as submitted or accepted tag sets, or ignore the labels.",
)
@click.option("--no-wait", is_flag=True, help="Do not wait for the end of the import.")
@as_json
@with_appcontext
def import_file(
    file: Path,
    slug: str,
    format_id: str | None,
    schema_id: UUID | None,
    labels_as: str,
    *,
    no_wait: bool,
    as_json: bool,
) -> None:
    """Import the documents in FILE into an organization.

    Formats: JSON Lines, CSV, ZIP, and the JSON exports of Label Studio and doccano.

    The service's workers import the file. If the command is interrupted, the import continues.
    """
    with run_operation("bulk_import_artifacts"), bind_organization(slug) as organization_id:
        job = accepting.import_local_file(
            file, format_id=format_id, schema_id=schema_id, labels_as=labels_as
        )
        job_id = job.id
    wait_and_show_job(organization_id, job_id, "Importing", no_wait=no_wait, as_json=as_json)


@click.command("crawl")
@click.argument("connector_id", type=click.UUID)
@click.option("--org", "slug", required=True, help="Slug of the organization.")
@click.option("--no-wait", is_flag=True, help="Do not wait for the end of the crawl.")
@as_json
@with_appcontext
def crawl(connector_id: UUID, slug: str, *, no_wait: bool, as_json: bool) -> None:
    """Crawl a connector of an organization.

    The service's workers run the crawl. If the command is interrupted, the crawl continues.
    """
    with run_operation("crawl_connector"), bind_organization(slug) as organization_id:
        job_id = managing.crawl(connector_id, created_by=None).id
    wait_and_show_job(organization_id, job_id, "Crawling", no_wait=no_wait, as_json=as_json)


def wait_and_show_job(
    organization_id: UUID, job_id: UUID, label: str, *, no_wait: bool, as_json: bool
) -> None:
    """Wait until an ingestion job ends, unless `no_wait` is true, and show the job.

    Exits with status `EXIT_FINDINGS` if the job failed, was cancelled or completed with errors.
    """
    with tenancy.organization(organization_id):
        job = reading.get(job_id) if no_wait else _wait_for_job(job_id, label)
    record = {"id": job.id, "status": job.status, **job.counts}
    if job.error:
        record["error"] = job.error["message"]
    show_record(record, as_json=as_json)
    if job.status in (JobStatus.COMPLETED_WITH_ERRORS, JobStatus.FAILED, JobStatus.CANCELLED):
        raise click.exceptions.Exit(EXIT_FINDINGS)


def _wait_for_job(job_id: UUID, label: str) -> IngestionJob:
    """Show the progress of an ingestion job until it ends, and return the ended job."""
    with show_progress(label) as report_progress:
        while True:
            db.session().rollback()
            db.session().expire_all()
            job = reading.get(job_id)
            # The total of a crawl is unknown until the source has been listed.
            report_progress(job.next_number - 1, job.total or job.next_number)
            if job.finished_at is not None:
                return job
            time.sleep(_POLL_INTERVAL_SECONDS)
