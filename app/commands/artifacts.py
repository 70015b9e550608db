"""`flask artifacts`: commands for documents."""

from datetime import UTC, datetime

import click
from flask.cli import AppGroup

from app.commands.running import as_json, run_operation, show_progress, show_record
from app.documents.artifacts import service
from app.identity.control_plane import service as control_plane
from app.kit import db, tenancy

group = AppGroup("artifacts", help="Documents: reprocess.")
_TIME = click.DateTime(("%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"))


@group.command("reprocess")
@click.argument("slug")
@click.option("--failure-code", help="Only documents that failed with this code, such as crashed.")
@click.option(
    "--created-after", type=_TIME, help="Only documents created at this time (UTC) or later."
)
@click.option("--created-before", type=_TIME, help="Only documents created before this time (UTC).")
@as_json
def reprocess(
    slug: str,
    failure_code: str | None,
    created_after: datetime | None,
    created_before: datetime | None,
    *,
    as_json: bool,
) -> None:
    """Reprocess the failed documents of the organization SLUG.

    Works in batches. If the command is interrupted, run it again to continue with the remaining
    documents.
    """
    with run_operation("reprocess_artifacts"), show_progress("Queueing") as report:
        organization = control_plane.show(slug)
        with tenancy.organization(organization["id"]):
            queued_count = service.reprocess_failed(
                db.checkpoint,
                report,
                failure_code=failure_code,
                created_after=_to_utc(created_after),
                created_before=_to_utc(created_before),
            )
    show_record({"queued": queued_count}, as_json=as_json)


def _to_utc(time: datetime | None) -> datetime | None:
    return None if time is None else time.replace(tzinfo=UTC)
