"""`flask counts`: commands that check and repair the counters of lists and statistics."""

from dataclasses import asdict
from uuid import UUID

import click
from flask.cli import AppGroup

from app.commands.running import FOUND, as_json, progress, running, show_list, show_record
from app.kit import db, errors
from app.kit.counters import upkeep

group = AppGroup("counts", help="Counters of lists and statistics: verify, rebuild.")
_COLUMNS = ("organization", "source", "cube", "key", "bucket", "facets", "n", "total")


@group.command("verify")
@click.argument("slug", required=False)
@as_json
def verify(slug: str | None, *, as_json: bool) -> None:
    """Compare the counters of all organizations, or of SLUG, with the rows that they count.

    Prints the cells that differ, with the number of rows that each lacks. The exit status is 3 if
    any cell differs.
    """
    found: list[upkeep.Difference] = []
    with running("verify_counts"), progress("Verifying") as report:
        chosen = _organizations(slug)
        for done, (organization_id, name) in enumerate(chosen, start=1):
            found += upkeep.find_differences(organization_id, name)
            db.checkpoint()
            report(done, len(chosen))
    if found or as_json:
        show_list([asdict(one) for one in found], _COLUMNS, as_json=as_json)
    if found:
        raise click.exceptions.Exit(FOUND)


@group.command("rebuild")
@click.argument("slug", required=False)
@as_json
def rebuild(slug: str | None, *, as_json: bool) -> None:
    """Correct the counters of all organizations, or of SLUG, while the service is running.

    It is safe to interrupt this command and to run it again.
    """
    cells = 0
    with running("rebuild_counts"), progress("Rebuilding") as report:
        chosen, sources = _organizations(slug), upkeep.list_sources()
        for done, (organization_id, _) in enumerate(chosen, start=1):
            for source in sources:
                cells += upkeep.repair(organization_id, source)
                db.checkpoint()
            report(done, len(chosen))
    show_record({"corrected_cells": cells}, as_json=as_json)


def _organizations(slug: str | None) -> list[tuple[UUID, str]]:
    chosen = upkeep.list_organizations(slug)
    if slug is not None and not chosen:
        raise errors.not_found()
    return chosen
