"""`flask org`: commands that manage organizations."""

import re
import time
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
from app.identity.control_plane.queries import ErasureStatus
from app.identity.control_plane.schemas import ProvisionOrganization, SetPlan, SuspendOrganization
from app.identity.erasing.jobs import enqueue_due_erasures
from app.kit.settings import PLANS

group = AppGroup("org", help="Create, list, show, change and close organizations.")
_slug_argument = click.argument("slug")
_POLL_INTERVAL_SECONDS = 0.5
_STATUSES = ("active", "suspended", "closed", "erased")


@group.command("create")
@click.argument("name")
@click.option("--slug", help="Slug for URLs; generated from NAME by default.")
@click.option("--owner-email", required=True, help="Email address of the owner, who gets an email.")
@click.option("--owner-name", required=True, help="Name of the owner, if a new account is created.")
@click.option(
    "--plan", type=click.Choice(PLANS), help="Plan. Default: the operator's default plan."
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
    """Create the organization NAME and email its owner.

    If the owner has no account, or an account with an unverified address, the email has a link to
    choose a password. An account with an unverified address loses its password, sessions and links.
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
        rows = service.list_organizations(status=status, plan=plan)
        columns = ("slug", "name", "status", "plan", "members", "created_at")
        show_list((row._asdict() for row in rows), columns, as_json=as_json)


@group.command("show")
@_slug_argument
@as_json
def show(slug: str, *, as_json: bool) -> None:
    """Show the plan, the limits, the owners and the erasure time of the organization SLUG."""
    with run_operation("show_organization"):
        record = service.get_organization(slug)
    show_record(record, as_json=as_json)


def _parse_limits(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, int | None]:
    limits: dict[str, int | None] = {}
    for text in values:
        name, _, limit = text.partition("=")
        if name not in service.LIMITS:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(service.LIMITS)}")
        if not re.fullmatch("none|[0-9]{1,16}", limit):
            raise click.BadParameter(f"{text!r} must be NAME=NUMBER, or NAME=none for no limit")
        limits[name] = None if limit == "none" else int(limit)
    return limits


@group.command("plan")
@_slug_argument
@click.argument("plan", type=click.Choice(PLANS))
@click.option(
    "--limit",
    "limits",
    multiple=True,
    callback=_parse_limits,
    metavar="NAME=NUMBER",
    help="A limit that differs from the plan, or NAME=none for no limit; may be repeated. All other"
    f" limits get the values of the plan. Names: {', '.join(service.LIMITS)}.",
)
@as_json
def set_plan(slug: str, plan: str, limits: dict[str, int | None], *, as_json: bool) -> None:
    """Set the plan of the organization SLUG to PLAN."""
    with run_operation("set_organization_plan"):
        body = load_body(SetPlan, {"plan": plan, "limits": limits})
        organization = service.set_plan(slug, **body)
    show_record(organization, as_json=as_json)


@group.command("suspend")
@_slug_argument
@click.option("--reason", required=True, help="Reason that is emailed to the owners.")
@as_json
def suspend(slug: str, reason: str, *, as_json: bool) -> None:
    """Suspend the organization SLUG: members can still read, but writes are refused."""
    with run_operation("suspend_organization"):
        body = load_body(SuspendOrganization, {"reason": reason})
        organization = service.suspend(slug, **body)
    show_record(organization, as_json=as_json)


@group.command("reinstate")
@_slug_argument
@as_json
def reinstate(slug: str, *, as_json: bool) -> None:
    """End the suspension of the organization SLUG."""
    with run_operation("reinstate_organization"):
        organization = service.reinstate(slug)
    show_record(organization, as_json=as_json)


@group.command("close")
@_slug_argument
@click.option("--yes", is_flag=True, help="Do not prompt for the slug as a confirmation.")
@as_json
def close(slug: str, *, yes: bool, as_json: bool) -> None:
    """Close the organization SLUG.

    Access ends immediately. The data is erased after the grace period.
    """
    if not yes and click.prompt("Type the slug of the organization to close", err=True) != slug:
        raise click.ClickException("The slug does not match. Nothing was closed.")
    with run_operation("close_organization"):
        organization = service.close(slug)
    show_record(organization, as_json=as_json)


@group.command("reopen")
@_slug_argument
@as_json
def reopen(slug: str, *, as_json: bool) -> None:
    """Reopen the closed organization SLUG, if its erasure has not begun yet.

    Its members, API keys and records are unchanged.
    """
    with run_operation("reopen_organization"):
        organization = service.reopen(slug)
    show_record(organization, as_json=as_json)


@group.command("erase-due")
@click.option("--wait", is_flag=True, help="Wait until the organizations are erased.")
@as_json
def erase_due(*, wait: bool, as_json: bool) -> None:
    """Start the erasure of closed organizations whose grace period is over.

    Skips organizations that wait for their last invoice. The workers erase the others. Even
    without this command, the workers check for due organizations every ten minutes.
    """
    with run_operation("start_erasing"):
        organization_ids = enqueue_due_erasures()
        rows = queries.list_erasure_statuses(organization_ids)
    if wait and organization_ids:
        rows = _wait_until_erased(organization_ids)
    show_list([row._asdict() for row in rows], ErasureStatus._fields, as_json=as_json)


def _wait_until_erased(organization_ids: list[UUID]) -> list[ErasureStatus]:
    with show_progress("Erasing") as report_progress:
        while True:
            with run_operation("show_organization"):
                rows = queries.list_erasure_statuses(organization_ids)
            done_count = sum(row.status != "closed" for row in rows)
            report_progress(done_count, len(rows))
            if done_count == len(rows):
                return rows
            time.sleep(_POLL_INTERVAL_SECONDS)
