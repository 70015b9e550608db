"""`flask org`: organizations."""

import re
import time
from typing import Any
from uuid import UUID

import click
from flask.cli import AppGroup

from app.commands.running import as_json, checked, progress, running, show_list, show_record
from app.identity.control_plane import service
from app.identity.control_plane.schemas import Provision, SetPlan, Suspend
from app.identity.erasing.jobs import enqueue_due
from app.kit.settings import PLANS

group = AppGroup("org", help="Organizations: create, list, show, change, close.")
_slug = click.argument("slug")
_PAUSE_SECONDS = 0.5
_STATUSES = ("active", "suspended", "closed", "erased")


@group.command("create")
@click.argument("name")
@click.option("--slug", help="Names it in addresses; made of the name when left out.")
@click.option("--owner-email", required=True, help="Whose it is; they are mailed.")
@click.option("--owner-name", required=True, help="Used when there is no account yet.")
@click.option("--plan", type=click.Choice(PLANS), help="The default plan when left out.")
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

    A new owner is mailed a link to choose a password.
    """
    organization = {"name": name, **({"slug": slug} if slug else {})}
    owner = {"email": owner_email, "name": owner_name}
    with running("provision_organization"):
        body = {"organization": organization, "owner": owner, "plan": plan}
        made = service.provision(**checked(Provision, body))
    show_record(made, as_json=as_json)


@group.command("list")
@click.option("--status", type=click.Choice(_STATUSES), help="Only of this status.")
@click.option("--plan", type=click.Choice(PLANS), help="Only of this plan.")
@as_json
def list_organizations(status: str | None, plan: str | None, *, as_json: bool) -> None:
    """List organizations by slug."""
    with running("list_organizations"):
        rows = list(service.list_organizations(status=status, plan=plan))
    columns = ("slug", "name", "status", "plan", "members", "created_at")
    show_list(rows, columns, as_json=as_json)


@group.command("show")
@_slug
@as_json
def show(slug: str, *, as_json: bool) -> None:
    """Show the organization SLUG."""
    with running("show_organization"):
        found = service.show(slug)
    show_record(found, as_json=as_json)


def _limit(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> Any:
    limits: dict[str, int | None] = {}
    for text in given:
        name, _, number = text.partition("=")
        if name not in service.LIMITS:
            raise click.BadParameter(f"{name!r} is none of {', '.join(service.LIMITS)}")
        if not re.fullmatch("none|[0-9]{1,16}", number):
            raise click.BadParameter(f"{text!r} needs a whole number, or none for no limit")
        limits[name] = None if number == "none" else int(number)
    return limits


@group.command("plan")
@_slug
@click.argument("plan", type=click.Choice(PLANS))
@click.option(
    "--limit",
    "limits",
    multiple=True,
    callback=_limit,
    metavar="NAME=NUMBER",
    help="A limit that differs from the plan's, or NAME=none; again for each. Without any, there"
    f" are no differences any more. Names: {', '.join(service.LIMITS)}.",
)
@as_json
def plan(slug: str, plan: str, limits: dict[str, int | None], *, as_json: bool) -> None:
    """Give the organization SLUG another PLAN."""
    with running("set_organization_plan"):
        changed = service.set_plan(slug, **checked(SetPlan, {"plan": plan, "limits": limits}))
    show_record(changed, as_json=as_json)


@group.command("suspend")
@_slug
@click.option("--reason", required=True, help="The owners read it.")
@as_json
def suspend(slug: str, reason: str, *, as_json: bool) -> None:
    """Suspend the organization SLUG: reads go on, writes are refused."""
    with running("suspend_organization"):
        changed = service.suspend(slug, **checked(Suspend, {"reason": reason}))
    show_record(changed, as_json=as_json)


@group.command("reinstate")
@_slug
@as_json
def reinstate(slug: str, *, as_json: bool) -> None:
    """Lift the suspension of the organization SLUG."""
    with running("reinstate_organization"):
        changed = service.reinstate(slug)
    show_record(changed, as_json=as_json)


@group.command("close")
@_slug
@click.option("--yes", is_flag=True, help="Do not ask for the slug once more.")
@as_json
def close(slug: str, *, yes: bool, as_json: bool) -> None:
    """Close the organization SLUG.

    Access ends at once; its data is erased after the grace period.
    """
    if not yes and click.prompt("Type the slug to close it", err=True) != slug:
        raise click.ClickException("That is another slug. Nothing was closed.")
    with running("close_organization"):
        service.close(slug)
        changed = service.show(slug)
    show_record(changed, as_json=as_json)


@group.command("reopen")
@_slug
@as_json
def reopen(slug: str, *, as_json: bool) -> None:
    """Reopen the organization SLUG, which was closed and is not erased yet.

    Members, keys and records are as they were.
    """
    with running("reopen_organization"):
        service.reopen(slug)
        changed = service.show(slug)
    show_record(changed, as_json=as_json)


@group.command("erase-due")
@click.option("--wait", is_flag=True, help="Wait until the workers have erased them.")
@as_json
def erase_due(*, wait: bool, as_json: bool) -> None:
    """Erase now what was closed and whose grace period is over.

    The workers do it, which look by themselves every ten minutes.
    """
    with running("start_erasing"):
        due = enqueue_due()
        rows = service.named(due)
    if wait and due:
        rows = _erased(due)
    show_list(rows, ("slug", "name", "status", "erase_after"), as_json=as_json)


def _erased(due: list[UUID]) -> list[dict[str, Any]]:
    with progress("Erasing") as report:
        while True:
            with running("show_organization"):
                rows = service.named(due)
            done = sum(row["status"] != "closed" for row in rows)
            report(done, len(rows))
            if done == len(rows):
                return rows
            time.sleep(_PAUSE_SECONDS)
