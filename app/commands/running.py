"""How a command runs: who acts, one transaction, errors in words, and what it prints."""

import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import click
import orjson
from marshmallow import Schema
from sqlalchemy.exc import SQLAlchemyError

from app.kit import audit, db, db_errors, events
from app.kit.api import requests
from app.kit.errors import ApiError

_HIDDEN = "\N{REPLACEMENT CHARACTER}"
FOUND = 3
"""Exit status of a command that came to its end and found something wrong."""

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@contextmanager
def running(operation: str) -> Iterator[None]:
    """One transaction, committed at the end, in which the command line acts for the audit log.

    `operation` is the API's name of it. What is refused becomes a message and exit status 1.
    """
    request_id = f"command-{secrets.token_hex(8)}"
    events.set_request_id(request_id)
    try:
        with (
            audit.acting(
                "control_plane", None, "command line", operation=operation, request_id=request_id
            ),
            db.transaction(),
        ):
            yield
    except ApiError as error:
        raise click.ClickException(_words(error)) from error
    except UnicodeEncodeError as error:
        # The shell hands over bytes; those that are no UTF-8 are lone surrogates here.
        raise click.ClickException("An argument is not UTF-8.") from error
    except SQLAlchemyError as error:
        told = db_errors.translate(error)
        if not isinstance(told, ApiError):
            raise
        raise click.ClickException(_words(told)) from error
    finally:
        events.set_request_id(None)


def checked(schema: type[Schema], body: Mapping[str, Any]) -> dict[str, Any]:
    """What the API would take as `body`, and as it would hand it on; members that are None are
    left out. Raises 422 `unprocessable`, to be told by `running`."""
    return requests.load(schema(), {key: value for key, value in body.items() if value is not None})


def _words(error: ApiError) -> str:
    if error.code == "not_found" and error.field is None:
        return "There is no such organization."
    if error.code == "service_unavailable" and (error.details or {}).get("reason") == "database":
        return "The database cannot be reached."
    return f"{error.message} ({error.field})" if error.field else error.message


def printed(value: Any) -> str:
    """A value as a person reads it; nothing in it can control the terminal."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={printed(item)}" for key, item in value.items()) or "-"
    if isinstance(value, list | tuple):
        return ", ".join(printed(item) for item in value) or "-"
    return "".join(c if c.isprintable() else _HIDDEN for c in str(value))


def show_json(value: Any) -> None:
    """Print JSON, times in UTC."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_UTC_Z
    click.echo(orjson.dumps(value, default=str, option=options).decode())


def show_line(value: Any) -> None:
    """Print JSON in one line."""
    click.echo(orjson.dumps(value, default=str, option=orjson.OPT_UTC_Z).decode())


def show_record(record: Mapping[str, Any], *, as_json: bool) -> None:
    """Print one record, member by member."""
    if as_json:
        show_json(dict(record))
        return
    width = max(len(name) for name in record)
    for name, value in record.items():
        click.echo(f"{name:<{width}}  {printed(value)}")


def show_list(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], *, as_json: bool) -> None:
    """Print records: a table of `columns`, or all of each as JSON."""
    found = [dict(row) for row in rows]
    if as_json:
        show_json(found)
        return
    cells = [[printed(row[name]) for name in columns] for row in found]
    table = [[name.replace("_", " ") for name in columns], *cells]
    widths = [max(len(line[i]) for line in table) for i in range(len(columns))]
    for line in table:
        padded = (f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(padded).rstrip())


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error, where that is a terminal; called with what is done, and of what."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    with click.progressbar(length=1, label=label, file=sys.stderr) as bar:

        def report(done: int, total: int) -> None:
            bar.length = max(total, 1)
            bar.update(done - bar.pos)

        yield report
        # There may have been nothing to do, which is done.
        bar.update((bar.length or 1) - bar.pos)


def read_password(*, from_stdin: bool) -> str:
    """A password from the first line of standard input, or asked for twice; never an argument."""
    if not from_stdin:
        return str(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
    try:
        line = sys.stdin.readline().rstrip("\r\n")
        line.encode()
    except UnicodeError:
        # Without its cause, which has the password's bytes.
        raise click.UsageError("Standard input is not UTF-8.") from None
    if not line:
        raise click.UsageError("Standard input has no password.")
    return line
