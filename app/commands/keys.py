"""`flask keys`: the command that encrypts stored secrets with a new key."""

from dataclasses import asdict

import click
from flask.cli import AppGroup

from app.commands.running import EXIT_FINDINGS, as_json, run_operation, show_list, show_progress
from app.kit import encryption

group = AppGroup("keys", help="Rotate the encryption keys.")


@group.command("rotate")
@click.option("--dry-run", is_flag=True, help="Only count the values; write nothing.")
@as_json
def rotate(*, dry_run: bool, as_json: bool) -> None:
    """Re-encrypt all stored secrets with the first key in ENCRYPTION_KEYS.

    Put the new key first, restart the service, run this command, and then remove the old key. If
    the command is interrupted, run it again to continue. The exit status is 3 if a value cannot be
    decrypted with any key.
    """
    with run_operation("rotate_keys"), show_progress("Encrypting") as report_progress:
        counts = encryption.rotate_tokens(write=not dry_run, progress=report_progress)
    columns = ("place", "tokens", "rotated", "unreadable")
    show_list([asdict(count) for count in counts], columns, as_json=as_json)
    if any(count.unreadable for count in counts):
        click.echo(
            "Some values cannot be decrypted with any configured key. Keep the old keys.", err=True
        )
        raise click.exceptions.Exit(EXIT_FINDINGS)
