"""`flask user`: commands that manage accounts and their sessions."""

import click
from flask.cli import AppGroup

from app.commands.running import (
    as_json,
    load_body,
    read_password,
    run_operation,
    show_list,
    show_record,
)
from app.identity.control_plane import accounts
from app.identity.control_plane.accounts import DisabledAccount
from app.identity.control_plane.schemas import NewOwner

group = AppGroup("user", help="Manage accounts, passwords and sessions.")
sessions = AppGroup("sessions", help="List and revoke the sessions of an account.")
group.add_command(sessions)
_email_argument = click.argument("email")
_password_stdin_option = click.option(
    "--password-stdin", is_flag=True, help="Read the password from standard input."
)


@group.command("create")
@_email_argument
@click.option("--name", required=True, help="Name of the user.")
@click.option(
    "--locale", default="en", show_default=True, help="Language of emails, such as de-AT."
)
@click.option("--verified", is_flag=True, help="Mark the address as verified.")
@click.option("--invite", is_flag=True, help="Email a link to choose a password; do not prompt.")
@_password_stdin_option
@as_json
def create(
    email: str,
    name: str,
    locale: str,
    *,
    verified: bool,
    invite: bool,
    password_stdin: bool,
    as_json: bool,
) -> None:
    """Create an account with the address EMAIL; by default, prompt for the password."""
    if invite and password_stdin:
        raise click.UsageError("--invite and --password-stdin cannot be used together.")
    password = None if invite else read_password(from_stdin=password_stdin)
    with run_operation("create_user"):
        person = load_body(NewOwner, {"email": email, "name": name})
        user = accounts.create_user(**person, password=password, locale=locale, verified=verified)
    show_record(user, as_json=as_json)


@group.command("list")
@click.option("--org", "slug", help="Only members of the organization with this slug.")
@click.option("--disabled/--enabled", default=None, help="Only disabled, or only enabled accounts.")
@as_json
def list_users(slug: str | None, *, disabled: bool | None, as_json: bool) -> None:
    """List accounts, sorted by address."""
    with run_operation("list_users"):
        rows = accounts.list_users(slug=slug, disabled=disabled)
        columns = ("email", "name", "email_verified", "disabled", "created_at")
        show_list((row._asdict() for row in rows), columns, as_json=as_json)


@group.command("disable")
@_email_argument
@click.option("--revoke-keys", is_flag=True, help="Revoke the API keys that the user created.")
@as_json
def disable(email: str, *, revoke_keys: bool, as_json: bool) -> None:
    """Disable the account EMAIL and end its sessions.

    API keys that the user created belong to their organizations and keep working, unless
    --revoke-keys is given.
    """
    with run_operation("disable_user"):
        account = accounts.disable_user(email, revoke_keys=revoke_keys)
    _print_warnings(account)
    show_record(account, as_json=as_json)


def _print_warnings(account: DisabledAccount) -> None:
    if account["sole_owner_of"]:
        slugs = ", ".join(account["sole_owner_of"])
        click.echo(f"Organizations without another owner: {slugs}.", err=True)
    if account["api_keys"]:
        click.echo(f"API keys of this user that still work: {account['api_keys']}.", err=True)


@group.command("enable")
@_email_argument
@as_json
def enable(email: str, *, as_json: bool) -> None:
    """Enable the disabled account EMAIL."""
    with run_operation("enable_user"):
        account = accounts.enable_user(email)
    show_record(account, as_json=as_json)


@group.command("set-password")
@_email_argument
@_password_stdin_option
@as_json
def set_password(email: str, *, password_stdin: bool, as_json: bool) -> None:
    """Set the password of the account EMAIL, and end its sessions.

    By default, prompts for the password.
    """
    password = read_password(from_stdin=password_stdin)
    with run_operation("set_user_password"):
        account = accounts.set_password(email, password)
    show_record(account, as_json=as_json)


@sessions.command("list")
@_email_argument
@as_json
def list_sessions(email: str, *, as_json: bool) -> None:
    """List the active sessions of the account EMAIL."""
    with run_operation("list_sessions"):
        rows = [row._asdict() for row in accounts.list_sessions(email)]
    columns = ("id", "method", "issued_at", "last_seen_at", "ip_address", "user_agent")
    show_list(rows, columns, as_json=as_json)


@sessions.command("revoke")
@_email_argument
@as_json
def revoke_sessions(email: str, *, as_json: bool) -> None:
    """Revoke all sessions of the account EMAIL, and print how many were active."""
    with run_operation("revoke_all_sessions"):
        revoked_count = accounts.revoke_sessions(email)
    show_record({"revoked": revoked_count}, as_json=as_json)
