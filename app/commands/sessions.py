"""`flask user sessions`: commands that list and revoke the sessions of an account."""

import click
from flask.cli import AppGroup

from app.commands.running import as_json, run_operation, show_list, show_record
from app.identity.control_plane import accounts

group = AppGroup("sessions", help="List and revoke the sessions of an account.")
_email_argument = click.argument("email")


@group.command("list")
@_email_argument
@as_json
def list_sessions(email: str, *, as_json: bool) -> None:
    """List the active sessions of the account EMAIL."""
    with run_operation("list_sessions"):
        rows = accounts.list_sessions(email)
    columns = ("id", "method", "issued_at", "last_seen_at", "ip_address", "user_agent")
    show_list(rows, columns, as_json=as_json)


@group.command("revoke")
@_email_argument
@as_json
def revoke(email: str, *, as_json: bool) -> None:
    """Revoke all sessions of the account EMAIL, and print how many were active."""
    with run_operation("revoke_all_sessions"):
        revoked_count = accounts.revoke_sessions(email)
    show_record({"revoked": revoked_count}, as_json=as_json)
