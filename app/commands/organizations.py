"""`flask org`: commands that manage organizations."""

import re
import time
from typing import Any
from uuid import UUID

import click
from flask.cli import AppGroup

from app.commands.running import (
    as_json,
    load_body,
    run_operation,
    show_list,
    show_progress,
    show_record,
)
from app.identity.control_plane import queries, service
from app.identity.control_plane.schemas import ProvisionOrganization, SetPlan, SuspendOrganization
from app.identity.erasing.jobs import enqueue_due
from app.kit.settings import PLANS

group = AppGroup("org", help="Organizations: create, list, show, change, close.")
_slug = click.argument("slug")
_PAUSE_SECONDS = 0.5
_STATUSES = ("active", "suspended", "closed", "erased")


@group.command("create")
@click.argument("name")
@click.option("--slug", help="Slug for URLs; generated from NAME by default.")
@click.option("--owner-email", required=True, help="Email address of the owner, who gets an email.")
@click.option("--owner-name", required=True, help="Name for the owner's account if it is new.")
@click.option(
    "--plan", type=click.Choice(PLANS), help="Plan; the operator's default plan if omitted."
)
@as_json
def create(
    name: str,
    slug: str | None,
    owner_email: str,
    owner_name: str,
    plan: str | None,
    *,
    as_json: bool,
) -> None:
    """Create the organization NAME with its owner.

    If the owner has no account yet, they are emailed a link to choose a password.
    """
    organization = {"name": name, **({"slug": slug} if slug else {})}
    owner = {"email": owner_email, "name": owner_name}
    with run_operation("provision_organization"):
        body = {"organization": organization, "owner": owner, "plan": plan}
        record = service.provision(**load_body(ProvisionOrganization, body))
    show_record(record, as_json=as_json)


@group.command("list")
@click.option("--status", type=click.Choice(_STATUSES), help="Only organizations with this status.")
@click.option("--plan", type=click.Choice(PLANS), help="Only organizations with this plan.")
@as_json
def list_organizations(status: str | None, plan: str | None, *, as_json: bool) -> None:
    """List organizations, sorted by slug."""
    with run_operation("list_organizations"):
        rows = list(service.list_organizations(status=status, plan=plan))
    columns = ("slug", "name", "status", "plan", "members", "created_at")
    show_list(rows, columns, as_json=as_json)


@group.command("show")
@_slug
@as_json
def show(slug: str, *, as_json: bool) -> None:
    """Show the organization SLUG."""
    with run_operation("show_organization"):
        record = service.show(slug)
    show_record(record, as_json=as_json)


def _parse_limits(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, int | None]:
    limits: dict[str, int | None] = {}
    for text in values:
        name, _, number = text.partition("=")
        if name not in service.LIMITS:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(service.LIMITS)}")
        if not re.fullmatch("none|[0-9]{1,16}", number):
            raise click.BadParameter(f"{text!r} must have a whole number, or none for no limit")
        limits[name] = None if number == "none" else int(number)
    return limits


@group.command("plan")
@_slug
@click.argument("plan", type=click.Choice(PLANS))
@click.option(
    "--limit",
    "limits",
    multiple=True,
    callback=_parse_limits,
    metavar="NAME=NUMBER",
    help="A limit that differs from the plan, or NAME=none for no limit; may be repeated. Limits"
    f" without this option get the values of the plan. Names: {', '.join(service.LIMITS)}.",
)
@as_json
def plan(slug: str, plan: str, limits: dict[str, int | None], *, as_json: bool) -> None:
    """Set the plan of the organization SLUG to PLAN."""
    with run_operation("set_organization_plan"):
        changed = service.set_plan(slug, **load_body(SetPlan, {"plan": plan, "limits": limits}))
    show_record(changed, as_json=as_json)


@group.command("suspend")
@_slug
@click.option("--reason", required=True, help="Reason, which is emailed to the owners.")
@as_json
def suspend(slug: str, reason: str, *, as_json: bool) -> None:
    """Suspend the organization SLUG: members can still read, but writes are refused."""
    with run_operation("suspend_organization"):
        changed = service.suspend(slug, **load_body(SuspendOrganization, {"reason": reason}))
    show_record(changed, as_json=as_json)


@group.command("reinstate")
@_slug
@as_json
def reinstate(slug: str, *, as_json: bool) -> None:
    """End the suspension of the organization SLUG."""
    with run_operation("reinstate_organization"):
        changed = service.reinstate(slug)
    show_record(changed, as_json=as_json)


@group.command("close")
@_slug
@click.option("--yes", is_flag=True, help="Do not prompt for the slug as a confirmation.")
@as_json
def close(slug: str, *, yes: bool, as_json: bool) -> None:
    """Close the organization SLUG.

    Access ends immediately. The data is erased after the grace period.
    """
    if not yes and click.prompt("Type the slug to close it", err=True) != slug:
        raise click.ClickException("The slug does not match. Nothing was closed.")
    with run_operation("close_organization"):
        service.close(slug)
        changed = service.show(slug)
    show_record(changed, as_json=as_json)


@group.command("reopen")
@_slug
@as_json
def reopen(slug: str, *, as_json: bool) -> None:
    """Reopen the organization SLUG, which is closed but not erased yet.

    Its members, keys and records are unchanged.
    """
    with run_operation("reopen_organization"):
        service.reopen(slug)
        changed = service.show(slug)
    show_record(changed, as_json=as_json)


@group.command("erase-due")
@click.option("--wait", is_flag=True, help="Wait until the organizations are erased.")
@as_json
def erase_due(*, wait: bool, as_json: bool) -> None:
    """Erase the closed organizations whose grace period is over.

    The workers erase the organizations. Without this command, they check for due organizations
    every ten minutes.
    """
    with run_operation("start_erasing"):
        organization_ids = enqueue_due()
        rows = queries.list_by_ids(organization_ids)
    if wait and organization_ids:
        rows = _wait_until_erased(organization_ids)
    show_list(rows, ("slug", "name", "status", "erase_after"), as_json=as_json)


def _wait_until_erased(organization_ids: list[UUID]) -> list[dict[str, Any]]:
    with show_progress("Erasing") as report:
        while True:
            with run_operation("show_organization"):
                rows = queries.list_by_ids(organization_ids)
            done = sum(row["status"] != "closed" for row in rows)
            report(done, len(rows))
            if done == len(rows):
                return rows
            time.sleep(_PAUSE_SECONDS)
