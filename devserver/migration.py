"""`make migration m="…"`: generate a migration from the changes to the models."""

import os
import sys
import tempfile
from pathlib import Path

from devserver.children import ROOT
from devserver.postgres import EmbeddedPostgres

_FOLDER = ROOT / "migrations"


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
        command.revision(config, message.strip(), autogenerate=True)
    return 0
