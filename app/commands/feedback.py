"""`flask feedback`: command that records the feedback on predictions again."""

import click
from flask.cli import AppGroup

from app.commands.running import as_json, run_operation, show_progress, show_record
from app.insight.feedback import service
from app.kit import db, errors, tenancy
from app.kit.counters import upkeep

group = AppGroup("feedback", help="Feedback on predictions: rebuild.")


@group.command("rebuild")
@click.argument("slug", required=False)
@as_json
def rebuild(slug: str | None, *, as_json: bool) -> None:
    """Record the feedback of all organizations, or of SLUG, again from the accepted tag sets.

    Feedback that clients have reported is kept. It is safe to interrupt this command and to run it
    again while the service is running.
    """
    tag_set_count = 0
    with run_operation("rebuild_feedback"), show_progress("Rebuilding") as report:
        organizations = upkeep.list_organizations(slug)
        if slug is not None and not organizations:
            raise errors.not_found()
        for done, (organization_id, _) in enumerate(organizations, start=1):
            with tenancy.organization(organization_id):
                tag_set_count += service.rebuild(db.checkpoint)
            report(done, len(organizations))
    show_record({"tag_sets": tag_set_count}, as_json=as_json)
