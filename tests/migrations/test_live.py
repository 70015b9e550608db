"""The steps of `migrations.live` on a table of two organizations, under forced policies."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
import sqlalchemy as sa
from alembic import op
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy.exc import IntegrityError

from migrations import live, waiting
from tests.factories.waiting import wait_until
from tests.migrations.conftest import Migrating

ROWS = 25
TABLE = f"""
CREATE TABLE kinds (organization_id uuid, id int, PRIMARY KEY (organization_id, id));
CREATE TABLE things (organization_id uuid, id int, kind int, source text DEFAULT 'a', filled text,
                     PRIMARY KEY (organization_id, id));
INSERT INTO things (organization_id, id, kind)
SELECT CAST(lpad(CAST(o AS text), 32, '0') AS uuid), n, n
FROM generate_series(1, 2) AS o, generate_series(1, {ROWS}) AS n;
"""
FORCED = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY organization ON {table} USING (
    organization_id = (SELECT NULLIF(current_setting('app.organization_id', true), '')::uuid)
    OR (SELECT current_setting('app.all_organizations', true) = 'on'));
"""
FILL = """
UPDATE things SET filled = source FROM batch b
WHERE things.organization_id = b.organization_id AND things.id = b.id
"""
Migrate = Callable[[Callable[[], None]], None]


@pytest.fixture
def migrate(migrating: Migrating) -> Iterator[Migrate]:
    """Runs something as the `upgrade` of a migration."""
    migrating.rows(TABLE)
    for table in ("kinds", "things"):
        migrating.rows(FORCED.format(table=table))
    url = migrating.url.replace("postgresql://", "postgresql+psycopg2://", 1)
    engine = sa.create_engine(url, connect_args={"options": waiting.OPTIONS})

    def run(upgrade: Callable[[], None]) -> None:
        with engine.connect() as connection:
            context = MigrationContext.configure(
                connection, opts={"transaction_per_migration": True}
            )
            with context.begin_transaction(_per_migration=True), Operations.context(context):
                upgrade()

    yield run
    engine.dispose()


def fill() -> None:
    live.backfill("things", FILL, pending="filled IS NULL", size=10)


def filled(migrating: Migrating) -> int:
    return int(migrating.rows("SELECT count(*) FROM things WHERE filled = source")[0][0])


def test_a_backfill_comes_to_every_organization(migrating: Migrating, migrate: Migrate) -> None:
    migrate(fill)
    assert filled(migrating) == 2 * ROWS


def test_a_second_backfill_goes_on_where_the_first_stood(
    migrating: Migrating, migrate: Migrate, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Cut(live.Progress):
        def advance(self, done: int, total: int) -> None:
            if done == 20:
                raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(live, "Progress", Cut)
        with pytest.raises(KeyboardInterrupt):
            migrate(fill)
    assert filled(migrating) == 20
    migrating.rows("UPDATE things SET source = 'b'")
    migrate(fill)
    assert migrating.rows("SELECT filled, count(*) FROM things GROUP BY 1 ORDER BY 1") == [
        ("a", 20),
        ("b", 2 * ROWS - 20),
    ]


def test_a_backfill_sees_what_whoever_held_the_row_has_written(
    migrating: Migrating, migrate: Migrate
) -> None:
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with closing(migrating.connect()) as writer, writer.cursor() as cursor:
        cursor.execute("UPDATE things SET source = 'late' WHERE id = 5")
        thread = threading.Thread(target=migrate, args=(fill,))
        thread.start()
        wait_until(lambda: migrating.rows(waits)[0][0] > 0, "the backfill to meet the row")
        writer.commit()
        thread.join()
    assert filled(migrating) == 2 * ROWS
    assert migrating.rows("SELECT DISTINCT filled FROM things WHERE id = 5") == [("late",)]


def test_an_index_that_could_not_be_built_is_built_again(
    migrating: Migrating, migrate: Migrate
) -> None:
    def unique() -> None:
        live.create_index("uq_things", "things", ["kind"], unique=True)

    with pytest.raises(IntegrityError):
        migrate(unique)
    assert migrating.invalid() == ["uq_things"]
    migrating.rows("DELETE FROM things WHERE organization_id::text LIKE '%2'")
    migrate(unique)
    assert migrating.invalid() == []
    ((first,),) = migrating.rows("SELECT 'uq_things'::regclass::oid")
    migrate(unique)
    assert migrating.rows("SELECT 'uq_things'::regclass::oid") == [(first,)]
    for _ in range(2):
        migrate(lambda: live.drop_index("uq_things"))
    assert migrating.rows("SELECT to_regclass('uq_things')") == [(None,)]


def test_a_foreign_key_is_checked_under_row_level_security(
    migrating: Migrating, migrate: Migrate
) -> None:
    def add() -> None:
        columns = ["organization_id", "kind"], ["organization_id", "id"]
        op.create_foreign_key("fk_kind", "things", "kinds", *columns, postgresql_not_valid=True)

    def check() -> None:
        live.validate("fk_kind", "things")

    migrate(add)
    with pytest.raises(IntegrityError):
        migrate(check)
    assert migrating.invalid() == ["fk_kind"]
    migrating.rows("INSERT INTO kinds SELECT organization_id, kind FROM things")
    migrate(check)
    migrate(check)
    assert migrating.invalid() == []


def test_a_column_is_required_once_every_row_has_it(migrating: Migrating, migrate: Migrate) -> None:
    def require() -> None:
        live.set_not_null("things", "filled")

    with pytest.raises(IntegrityError):
        migrate(require)
    migrate(fill)
    migrate(require)
    migrate(require)
    ((required,),) = migrating.rows(
        "SELECT attnotnull FROM pg_attribute"
        " WHERE attrelid = 'things'::regclass AND attname = 'filled'"
    )
    assert required
    assert migrating.rows("SELECT conname FROM pg_constraint WHERE conname LIKE 'ck_things%'") == []


def test_a_step_refuses_to_commit_half_of_a_migration(
    migrating: Migrating, migrate: Migrate
) -> None:
    def mixed() -> None:
        op.add_column("things", sa.Column("more", sa.Integer()))
        live.create_index("ix_more", "things", ["more"])

    with pytest.raises(RuntimeError, match="ix_more: move this step before"):
        migrate(mixed)
    assert "more" not in [
        row[0]
        for row in migrating.rows(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'things'::regclass"
        )
    ]
