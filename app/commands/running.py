"""Helpers for commands: audited transactions, error messages, output and password input."""

import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from uuid import UUID

import click
import orjson
from marshmallow import Schema
from sqlalchemy.exc import SQLAlchemyError

from app.identity.control_plane import service as control_plane
from app.kit import audit, db, db_errors, events, tenancy
from app.kit.api import requests
from app.kit.db import ReportProgress
from app.kit.errors import ApiError

_REPLACEMENT_CHARACTER = "\N{REPLACEMENT CHARACTER}"
_PRINT_BATCH_ROWS = 1000
"""The number of rows of a list that are read and then printed together."""
EXIT_FINDINGS = 3
"""The exit status of a command that completed but found a problem."""

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@contextmanager
def run_operation(operation: str) -> Iterator[None]:
    """Run a block in a transaction, with the command line as the actor in the audit log.

    `operation` is the operation's id in the audit log. The transaction is committed at the end of
    the block. If the block raises an API error, a database error that is translated into an API
    error, or a UnicodeEncodeError, the command prints a message and exits with status 1.
    """
    request_id = f"command-{secrets.token_hex(8)}"
    events.set_request_id(request_id)
    try:
        with (
            audit.bind_actor(
                "control_plane", None, "command line", operation=operation, request_id=request_id
            ),
            db.transaction(),
        ):
            yield
    except ApiError as error:
        raise click.ClickException(_format_error(error)) from error
    except UnicodeEncodeError as error:
        # Python represents bytes of an argument that are not UTF-8 as lone surrogates.
        raise click.ClickException("An argument is not UTF-8.") from error
    except SQLAlchemyError as error:
        api_error = db_errors.translate(error)
        if not isinstance(api_error, ApiError):
            raise
        raise click.ClickException(_format_error(api_error)) from error
    finally:
        events.set_request_id(None)


@contextmanager
def bind_organization(slug: str) -> Iterator[UUID]:
    """Make the organization with this slug the current one in a `with` block, and yield its id.

    Raises 404 `not_found` for an unknown slug.
    """
    organization_id: UUID = control_plane.get_organization(slug)["id"]
    with tenancy.organization(organization_id):
        yield organization_id


@contextmanager
def override_not_found_message(message: str) -> Iterator[None]:
    """Override the message that a command prints if the block raises 404 without a field.

    By default, the message of `run_operation` says that there is no such organization.
    """
    try:
        yield
    except ApiError as error:
        if error.code != "not_found" or error.field is not None:
            raise
        raise click.ClickException(message) from error


def load_body(schema: type[Schema], body: Mapping[str, Any]) -> dict[str, Any]:
    """Validate and load `body` as the API does; omit fields that are None.

    Raises 422 `unprocessable`, which `run_operation` prints.
    """
    return requests.load(schema(), {key: value for key, value in body.items() if value is not None})


def _format_error(error: ApiError) -> str:
    if error.code == "not_found" and error.field is None:
        return "There is no such organization."
    if error.code == "service_unavailable" and (error.details or {}).get("reason") == "database":
        return "The database cannot be reached."
    return f"{error.message} ({error.field})" if error.field else error.message


def format_value(value: object) -> str:
    """Format a value as text; replace unprintable characters, which could control the terminal."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={format_value(item)}" for key, item in value.items()) or "-"
    if isinstance(value, list | tuple):
        return ", ".join(format_value(item) for item in value) or "-"
    return "".join(c if c.isprintable() else _REPLACEMENT_CHARACTER for c in str(value))


def show_json(value: object) -> None:
    """Print a value as indented JSON with times in UTC."""
    click.echo(_format_json(value))


def _format_json(value: object) -> str:
    options = orjson.OPT_INDENT_2 | orjson.OPT_UTC_Z
    return orjson.dumps(value, default=str, option=options).decode()


def show_json_line(value: object) -> None:
    """Print a value as one line of JSON with times in UTC."""
    click.echo(orjson.dumps(value, default=str, option=orjson.OPT_UTC_Z).decode())


def show_record(record: Mapping[str, Any], *, as_json: bool) -> None:
    """Print one field of a record per line, or print the record as JSON."""
    if as_json:
        show_json(dict(record))
        return
    width = max(len(name) for name in record)
    for name, value in record.items():
        click.echo(f"{name:<{width}}  {format_value(value)}")


def show_list(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], *, as_json: bool) -> None:
    """Print records as a table with the fields in `columns`, or as JSON with all fields.

    The records are printed in batches while they are read. If a batch has a wider value, the column
    is wider from that batch on.
    """
    records = iter(rows)
    if as_json:
        _show_json_list(records)
        return
    table = [[name.replace("_", " ") for name in columns]]
    widths = [0] * len(columns)
    batch = list(islice(records, _PRINT_BATCH_ROWS))
    while batch or table:
        table += ([format_value(record[name]) for name in columns] for record in batch)
        widths = [max(width, *(len(line[i]) for line in table)) for i, width in enumerate(widths)]
        for line in table:
            padded_cells = (f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True))
            click.echo("  ".join(padded_cells).rstrip())
        table, batch = [], list(islice(records, _PRINT_BATCH_ROWS))


def _show_json_list(records: Iterable[Mapping[str, Any]]) -> None:
    """Print records as `show_json` prints a list, but print each record as soon as it is read."""
    start = "["
    for record in records:
        brackets_and_record = _format_json([dict(record)])
        click.echo(start + brackets_and_record[1:-2], nl=False)
        start = ","
    click.echo("[]" if start == "[" else "\n]")


@contextmanager
def show_progress(label: str) -> Iterator[ReportProgress]:
    """Show a progress bar on standard error if it is a terminal.

    The yielded function takes the number of finished items and the total number of items.
    """
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    with click.progressbar(length=1, label=label, file=sys.stderr) as bar:

        def report_progress(done: int, total: int) -> None:
            bar.length = max(total, 1)
            bar.update(done - bar.pos)

        yield report_progress
        # Complete the bar, even if there was nothing to do.
        bar.update((bar.length or 1) - bar.pos)


def read_password(*, from_stdin: bool) -> str:
    """Read a password from the first line of standard input, or prompt for it twice.

    Commands never take passwords as arguments, because other users could read the arguments.
    """
    if not from_stdin:
        return str(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
    try:
        line = sys.stdin.readline().rstrip("\r\n")
        line.encode()
    except UnicodeError:
        # The cause is left out because it contains the bytes of the password.
        raise click.UsageError("Standard input is not UTF-8.") from None
    if not line:
        raise click.UsageError("The first line of standard input must contain the password.")
    return line
