"""Two installations on one PostgreSQL server, each with an owner and a role of its own."""

import os
from collections.abc import Iterator
from contextlib import closing

import psycopg2
import pytest
from psycopg2 import sql
from sqlalchemy import make_url

from app.kit.ids import uuid7
from devserver import databases
from devserver.postgres import EmbeddedPostgres
from tests.factories.processes import run_script
from tests.migrations.commands import Commands
from tests.migrations.conftest import ROOT, Migrating

_WORK = """
from app.factory import create_app
from app.kit import db, tenancy
from sqlalchemy import text
with create_app(with_api=False).app_context():
    print(db.session().scalar(text("SELECT current_user")))
    with tenancy.across_organizations(reason="a test"):
        print(db.session().scalar(text("SELECT count(*) FROM organizations")))
"""


@pytest.fixture
def second(
    postgres: EmbeddedPostgres, environ: dict[str, str], commands: Commands
) -> Iterator[Migrating]:
    """A database of an owner who knows nothing of the first installation's roles."""
    name = f"second_{uuid7().hex[:12]}"
    databases.ensure_owner_role(postgres.admin_url, name, "password")
    databases.create_database(postgres.admin_url, name, name)
    url = make_url(postgres.admin_url).set(username=name, password="password", database=name)
    text = url.render_as_string(hide_password=False)
    yield Migrating(text, {**environ, "DATABASE_ROLE": f"{name}_app"}, commands)
    databases.drop_database(postgres.admin_url, name)
    with (
        closing(psycopg2.connect(postgres.admin_url)) as connection,
        connection,
        connection.cursor() as cursor,
    ):
        for role in (f"{name}_app", name):
            cursor.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(role)))


def test_a_second_installation_has_a_role_of_its_own(second: Migrating) -> None:
    second.run("upgrade", "head")
    environ = {**os.environ, **second.environ, "DATABASE_URL": second.url}
    output = run_script(_WORK, env={**environ, "PYTHONPATH": str(ROOT)})
    assert output.split() == [second.environ["DATABASE_ROLE"], "0"]
