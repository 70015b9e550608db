"""`make migration m="…"`: generate a migration from the changes to the models."""

import os
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from devserver.children import ROOT
from devserver.postgres import EmbeddedPostgres
from devserver.revisions import find_head_revision

_FOLDER = ROOT / "migrations"
_REVISION_FORMAT = "%Y%m%d%H%M"


def write_migration(message: str) -> int:
    """Write a migration file to `migrations/versions`; return 0, or 2 if the message is empty.

    The models are compared with a temporary database to which all existing migrations are applied.
    The file is a draft for the developer; the command does not apply it.
    """
    if not message.strip():
        print(
            'Describe the migration, for example: make migration m="add due date"', file=sys.stderr
        )
        return 2
    from alembic import command  # noqa: PLC0415 - only this command and `prepare` need it
    from alembic.config import Config  # noqa: PLC0415

    from app import features  # noqa: F401, PLC0415 - declares every model

    config = Config(str(_FOLDER / "alembic.ini"))
    config.set_main_option("script_location", str(_FOLDER))
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedPostgres(Path(folder) / "postgres", fast=True) as server,
    ):
        os.environ["DATABASE_URL"] = server.url
        command.upgrade(config, "head")
        command.revision(config, message.strip(), autogenerate=True, rev_id=_build_revision_id())
    return 0


def _build_revision_id() -> str:
    """Return the current time in UTC, but at least a minute after the newest migration's time."""
    head = find_head_revision(_FOLDER / "versions")
    times = [datetime.now(UTC).replace(tzinfo=None)]
    if head is not None:
        times.append(datetime.strptime(head, _REVISION_FORMAT) + timedelta(minutes=1))  # noqa: DTZ007 - in UTC
    return max(times).strftime(_REVISION_FORMAT)
