"""`flask quality`: the command that recomputes the daily quality metrics."""

import click
from flask.cli import AppGroup

from app.commands.running import as_json, run_operation, show_progress, show_record
from app.insight.quality.service import updating
from app.kit import db, tenancy
from app.kit.counters import upkeep

group = AppGroup("quality", help="Recompute the quality metrics.")


@group.command("rebuild")
@click.argument("slug", required=False)
@as_json
def rebuild(slug: str | None, *, as_json: bool) -> None:
    """Recompute the quality metrics of all organizations, or of SLUG, from the tag sets.

    The service may be running. It is safe to interrupt this command and to run it again. Prints how
    many stored counts and sums were wrong.
    """
    corrected_cells = 0
    with run_operation("rebuild_quality"), show_progress("Counting documents") as report_progress:
        for organization_id, _ in upkeep.list_organizations(slug):
            with tenancy.organization(organization_id):
                corrected_cells += updating.rebuild(db.checkpoint, report_progress)
                db.checkpoint()
    show_record({"corrected_cells": corrected_cells}, as_json=as_json)
