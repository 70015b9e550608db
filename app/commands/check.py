"""`flask check`: the command that checks the servers and the settings of this machine."""

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from uuid import uuid4

import click
from flask.cli import with_appcontext
from redis import RedisError
from sqlalchemy import func, select

from app.commands.running import EXIT_FINDINGS, as_json, run_operation, show_list
from app.documents.artifacts.service import reading as artifacts
from app.identity.control_plane import service as control_plane
from app.kit import container, db, encryption, tenancy
from app.kit.jobs import backlog
from app.kit.storage import NotStored, StorageUnavailable

_MAX_CLOCK_DIFFERENCE = 2.0
"""The maximum difference in seconds between the clocks of this machine and the database."""
_MAX_ORGANIZATIONS = 100
"""The maximum number of organizations whose newest document is looked up in the storage."""


@click.command("check")
@with_appcontext
@as_json
def check(*, as_json: bool) -> None:
    """Check the clock, Redis, the storage, the keys and the queues with this machine's settings.

    If several machines share a database, run this command on each. The exit status is 3 if a check
    fails.
    """
    with run_operation("check"):
        problems = {name: find_problem() for name, find_problem in _CHECKS.items()}
    rows = [
        {"check": name, "ok": not problem, "problem": problem} for name, problem in problems.items()
    ]
    show_list(rows, ("check", "ok", "problem"), as_json=as_json)
    if any(problems.values()):
        raise click.exceptions.Exit(EXIT_FINDINGS)


def _check_clock() -> str:
    # The difference includes the response time of the database, which is much shorter than the
    # maximum.
    database_time = db.session().scalar(select(func.clock_timestamp()))
    assert database_time is not None
    seconds = (datetime.now(UTC) - database_time).total_seconds()
    if abs(seconds) <= _MAX_CLOCK_DIFFERENCE:
        return ""
    direction = "ahead of" if seconds > 0 else "behind"
    return (
        f"This machine's clock is {abs(seconds):.1f} s {direction} the database's."
        " Synchronize the clocks."
    )


def _check_redis() -> str:
    try:
        container.current().redis().ping()
    except RedisError as error:
        return f"REDIS_URL: Redis does not respond ({type(error).__name__})."
    return ""


def _check_storage() -> str:
    storage, key = container.current().storage, f"checks/{uuid4().hex}"
    try:
        storage.write(key, [b"check"])
        with storage.open(key) as file:
            is_equal = file.read() == b"check"
        storage.delete(key)
    except (StorageUnavailable, NotStored, OSError) as error:
        return f"STORAGE_URL: a test file could not be written, read or deleted ({error})."
    return (
        ""
        if is_equal
        else "STORAGE_URL: the content of a test file changed between writing and reading."
    )


def _check_files() -> str:
    try:
        slug = next(_iterate_slugs_with_missing_file(), None)
    except StorageUnavailable as error:
        return f"STORAGE_URL: the storage does not respond ({error})."
    if slug is None:
        return ""
    return (
        f"STORAGE_URL: the storage lacks the file of the newest document of {slug}."
        " All machines must use the same storage."
    )


def _iterate_slugs_with_missing_file() -> Iterator[str]:
    # Close the generator: until then, this code has access to all organizations.
    with closing(control_plane.list_organizations()) as organizations:
        slugs = [row.slug for row in islice(organizations, _MAX_ORGANIZATIONS)]
    for slug in slugs:
        with tenancy.organization(control_plane.get_organization(slug)["id"]):
            if not artifacts.is_newest_file_stored():
                yield slug


def _check_keys() -> str:
    columns = encryption.list_unreadable_columns()
    if not columns:
        return ""
    return (
        f"ENCRYPTION_KEYS: some values of {', '.join(columns)} cannot be decrypted with any key."
        " All machines must use the same keys."
    )


def _check_queues() -> str:
    wait_seconds = backlog.list_late_queues()
    if not wait_seconds:
        return ""
    waits = ", ".join(f"queue {queue} for {seconds} s" for queue, seconds in wait_seconds.items())
    return f"Due work waits for a worker: {waits}. Check that workers are running."


# Each function returns a problem, or an empty string.
_CHECKS: dict[str, Callable[[], str]] = {
    "clock": _check_clock,
    "redis": _check_redis,
    "storage": _check_storage,
    "files of documents": _check_files,
    "encryption keys": _check_keys,
    "queues": _check_queues,
}
