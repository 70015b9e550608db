"""`flask feedback`: the command that rebuilds the stored feedback on predictions."""

import click
from flask.cli import AppGroup

from app.commands.running import as_json, run_operation, show_progress, show_record
from app.insight.feedback.service import automatic
from app.kit import db, tenancy
from app.kit.counters import upkeep

group = AppGroup("feedback", help="Rebuild the feedback on predictions.")


@group.command("rebuild")
@click.argument("slug", required=False)
@as_json
def rebuild(slug: str | None, *, as_json: bool) -> None:
    """Rebuild the feedback of all organizations, or of SLUG, from the accepted tag sets.

    Feedback that clients have reported is kept. The service may be running. It is safe to interrupt
    this command and to run it again.
    """
    tag_set_count = 0
    with run_operation("rebuild_feedback"), show_progress("Rebuilding") as report_progress:
        organizations = upkeep.list_organizations(slug)
        for done, (organization_id, _) in enumerate(organizations, start=1):
            with tenancy.organization(organization_id):
                tag_set_count += automatic.rebuild(db.checkpoint)
            report_progress(done, len(organizations))
    show_record({"tag_sets": tag_set_count}, as_json=as_json)
