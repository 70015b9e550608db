"""`flask artifacts`: the command that reprocesses failed documents."""

from datetime import UTC, datetime

import click
from flask.cli import AppGroup

from app.commands.imports import wait_and_show_job
from app.commands.running import as_json, bind_organization, run_operation
from app.documents.artifacts.service.reprocessing import FailedSelection
from app.intake.reprocess_jobs import service

group = AppGroup("artifacts", help="Reprocess failed documents.")
_TIME = click.DateTime(("%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"))


@group.command("reprocess")
@click.argument("slug")
@click.option("--failure-code", help="Only documents that failed with this code, such as crashed.")
@click.option(
    "--created-after", type=_TIME, help="Only documents created at this time (UTC) or later."
)
@click.option("--created-before", type=_TIME, help="Only documents created before this time (UTC).")
@click.option("--no-wait", is_flag=True, help="Do not wait until the documents are reprocessed.")
@as_json
def reprocess(
    slug: str,
    failure_code: str | None,
    created_after: datetime | None,
    created_before: datetime | None,
    *,
    no_wait: bool,
    as_json: bool,
) -> None:
    """Reprocess the failed documents of the organization SLUG.

    Creates an ingestion job with an item for each document. The service's workers reprocess the
    documents. If the command is interrupted, the job continues.
    """
    with run_operation("reprocess_artifacts"), bind_organization(slug) as organization_id:
        selection = FailedSelection(
            failure_code, _attach_utc(created_after), _attach_utc(created_before)
        )
        job_id = service.create_for_failed_documents(selection).id
    wait_and_show_job(organization_id, job_id, "Reprocessing", no_wait=no_wait, as_json=as_json)


def _attach_utc(time: datetime | None) -> datetime | None:
    return None if time is None else time.replace(tzinfo=UTC)
