"""`flask counts`: commands that verify and repair the stored counts of lists and statistics."""

from dataclasses import asdict

import click
from flask.cli import AppGroup

from app.commands.running import (
    EXIT_FINDINGS,
    as_json,
    run_operation,
    show_list,
    show_progress,
    show_record,
)
from app.kit import db
from app.kit.counters import upkeep

group = AppGroup("counts", help="Verify and rebuild the stored counts.")
_COLUMNS = ("organization", "source", "cube", "key", "bucket", "facets", "n", "total")


@group.command("verify")
@click.argument("slug", required=False)
@as_json
def verify(slug: str | None, *, as_json: bool) -> None:
    """Compare the stored counts of all organizations, or of SLUG, with the rows that they count.

    Prints each stored count that differs: "n" is the actual number of rows minus the stored number,
    and "total" is the actual sum minus the stored sum. The exit status is 3 if any stored count
    differs.
    """
    differences: list[upkeep.Difference] = []
    with run_operation("verify_counts"), show_progress("Verifying") as report_progress:
        organizations = upkeep.list_organizations(slug)
        for done, (organization_id, name) in enumerate(organizations, start=1):
            differences += upkeep.find_differences(organization_id, name)
            db.checkpoint()
            report_progress(done, len(organizations))
    if differences or as_json:
        show_list([asdict(difference) for difference in differences], _COLUMNS, as_json=as_json)
    if differences:
        raise click.exceptions.Exit(EXIT_FINDINGS)


@group.command("rebuild")
@click.argument("slug", required=False)
@as_json
def rebuild(slug: str | None, *, as_json: bool) -> None:
    """Correct the stored counts of all organizations, or of SLUG.

    The service may be running. It is safe to interrupt this command and to run it again.
    """
    corrected_cells = 0
    with run_operation("rebuild_counts"), show_progress("Rebuilding") as report_progress:
        organizations, sources = upkeep.list_organizations(slug), upkeep.list_sources()
        for done, (organization_id, _) in enumerate(organizations, start=1):
            for source in sources:
                corrected_cells += upkeep.repair(organization_id, source)
                db.checkpoint()
            report_progress(done, len(organizations))
    show_record({"corrected_cells": corrected_cells}, as_json=as_json)
