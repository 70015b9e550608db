"""Migrations of audited tables, down and up again, on a separate database."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from app.kit.ids import uuid7
from devserver.postgres import EmbeddedPostgres

ROOT = Path(__file__).parents[3]
LOWEST = "202611211020"
"""The lowest revision to downgrade to: below it, members and invitations do not fit."""
_RUN = """
import sys
from alembic import command
from alembic.config import Config
config = Config("migrations/alembic.ini")
config.set_main_option("script_location", "migrations")
getattr(command, sys.argv[1])(config, sys.argv[2])
"""
_WATCHED = text("SELECT table_name FROM audit_watches ORDER BY 1")
_FUNCTIONS = text(
    "SELECT substr(proname, 7) FROM pg_proc WHERE prorettype = 'trigger'::regtype"
    " AND proname LIKE 'audit\\_%' ORDER BY 1"
)


@pytest.fixture
def url(postgres: EmbeddedPostgres) -> Iterator[str]:
    name = f"migrated_{uuid7().hex}"
    yield postgres.create_database(name)
    postgres.drop_database(name)


def test_down_and_up_again(url: str, environ: dict[str, str]) -> None:
    env = {**os.environ, **environ, "DATABASE_URL": url, "PYTHONPATH": str(ROOT)}
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg2://", 1))
    found = []
    for step in (("upgrade", "head"), ("downgrade", LOWEST), ("upgrade", "head")):
        command = [sys.executable, "-c", _RUN, *step]
        done = subprocess.run(
            command, cwd=ROOT, env=env, check=False, timeout=120, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-2000:]
        with engine.connect() as connection:
            found.append(connection.scalars(_WATCHED).all())
            assert connection.scalars(_FUNCTIONS).all() == found[-1]
    engine.dispose()
    assert found[0] == found[2]
    assert "api_keys" not in found[1]
