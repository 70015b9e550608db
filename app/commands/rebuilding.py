"""`flask counts`, `flask quality` and `flask feedback`: commands that repair derived data."""

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
from app.insight.feedback.service import automatic
from app.insight.quality.service import updating
from app.kit import db, tenancy
from app.kit.counters import upkeep

counts = AppGroup("counts", help="Verify and rebuild the stored counts.")
quality = AppGroup("quality", help="Recompute the quality metrics.")
feedback = AppGroup("feedback", help="Rebuild the feedback on predictions.")
_slug_argument = click.argument("slug", required=False)
_COLUMNS = ("organization", "source", "cube", "key", "bucket", "facets", "n", "total")


@counts.command("verify")
@_slug_argument
@as_json
def verify_counts(slug: str | None, *, as_json: bool) -> None:
    """Compare the counts and sums of all organizations, or of SLUG, with the rows they summarize.

    Prints each stored count that differs: "n" is the actual number of rows minus the stored number,
    and "total" is the actual sum minus the stored sum. The exit status is 3 if any stored count
    differs.
    """
    differences: list[upkeep.Difference] = []
    with run_operation("verify_counts"), show_progress("Verifying") as report_progress:
        organizations = upkeep.list_organizations(slug)
        for done_count, (organization_id, organization_slug) in enumerate(organizations, start=1):
            differences += upkeep.find_differences(organization_id, organization_slug)
            db.checkpoint()
            report_progress(done_count, len(organizations))
    if differences or as_json:
        show_list([asdict(difference) for difference in differences], _COLUMNS, as_json=as_json)
    if differences:
        raise click.exceptions.Exit(EXIT_FINDINGS)


@counts.command("rebuild")
@_slug_argument
@as_json
def rebuild_counts(slug: str | None, *, as_json: bool) -> None:
    """Correct the stored counts of all organizations, or of SLUG, and print how many were wrong.

    The service may be running. It is safe to interrupt this command and to run it again.
    """
    corrected_count = 0
    with run_operation("rebuild_counts"), show_progress("Rebuilding") as report_progress:
        organizations, sources = upkeep.list_organizations(slug), upkeep.list_sources()
        for done_count, (organization_id, _) in enumerate(organizations, start=1):
            for source in sources:
                corrected_count += upkeep.repair(organization_id, source)
                db.checkpoint()
            report_progress(done_count, len(organizations))
    show_record({"corrected_cells": corrected_count}, as_json=as_json)


@quality.command("rebuild")
@_slug_argument
@as_json
def rebuild_quality(slug: str | None, *, as_json: bool) -> None:
    """Recompute the quality metrics of all organizations, or of SLUG, from the tag sets.

    The service may be running. It is safe to interrupt this command and to run it again. Prints how
    many stored counts and sums were wrong.
    """
    corrected_count = 0
    with run_operation("rebuild_quality"), show_progress("Counting documents") as report_progress:
        for organization_id, _ in upkeep.list_organizations(slug):
            with tenancy.organization(organization_id):
                corrected_count += updating.rebuild(db.checkpoint, report_progress)
                db.checkpoint()
    show_record({"corrected_cells": corrected_count}, as_json=as_json)


@feedback.command("rebuild")
@_slug_argument
@as_json
def rebuild_feedback(slug: str | None, *, as_json: bool) -> None:
    """Rebuild the feedback of all organizations, or of SLUG, from the accepted tag sets.

    Feedback that clients have reported is kept. The service may be running. It is safe to interrupt
    this command and to run it again.
    """
    tag_set_count = 0
    with run_operation("rebuild_feedback"), show_progress("Rebuilding") as report_progress:
        organizations = upkeep.list_organizations(slug)
        for done_count, (organization_id, _) in enumerate(organizations, start=1):
            with tenancy.organization(organization_id):
                tag_set_count += automatic.rebuild(db.checkpoint)
            report_progress(done_count, len(organizations))
    show_record({"tag_sets": tag_set_count}, as_json=as_json)
