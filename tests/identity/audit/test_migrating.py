"""Migrations of audited tables, down and up again, on a separate database."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text

from app.kit.ids import uuid7
from devserver.postgres import EmbeddedPostgres

MIGRATIONS = Path(__file__).parents[3] / "migrations"
LOWEST = "202611211020"
"""The lowest revision to downgrade to: below it, members and invitations do not fit."""
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


def test_down_and_up_again(
    url: str, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in {**environ, "DATABASE_URL": url}.items():
        monkeypatch.setenv(variable, value)
    config = Config(str(MIGRATIONS / "alembic.ini"))
    config.set_main_option("script_location", str(MIGRATIONS))
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg2://", 1))
    snapshots = []
    steps = ((command.upgrade, "head"), (command.downgrade, LOWEST), (command.upgrade, "head"))
    for migrate, revision in steps:
        migrate(config, revision)
        with engine.connect() as connection:
            snapshots.append(connection.scalars(_WATCHED).all())
            assert connection.scalars(_FUNCTIONS).all() == snapshots[-1]
    engine.dispose()
    assert snapshots[0] == snapshots[2]
    assert "api_keys" not in snapshots[1]
