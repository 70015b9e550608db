"""`flask routing`: the command that applies routing rules to unassigned work."""

import click
from flask.cli import AppGroup

from app.commands.running import (
    as_json,
    bind_organization,
    run_operation,
    show_progress,
    show_record,
)
from app.kit import db
from app.workflow.routing_rules.service import routing

group = AppGroup("routing", help="Apply routing rules.")


@group.command("apply")
@click.argument("slug")
@as_json
def apply(slug: str, *, as_json: bool) -> None:
    """Apply the routing rules of the organization SLUG to its unassigned work.

    Works in batches. If the command is interrupted, run it again to continue with the remaining
    work.
    """
    with (
        run_operation("apply_routing_rules"),
        show_progress("Routing") as report_progress,
        bind_organization(slug),
    ):
        matched_count = routing.route_unassigned(db.checkpoint, report_progress)
    show_record({"matched": matched_count}, as_json=as_json)
