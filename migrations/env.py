"""Run Alembic's migrations as the owner (DATABASE_URL without the application's role).

The service may be running with the previous release. A migration waits for a table only briefly and
retries for minutes (`migrations/waiting.py`); long-running work is done in steps of
`migrations/live.py`. An advisory lock ensures that only one starting instance migrates at a time.
"""

import os
from functools import partial
from importlib import import_module

from alembic import context
from alembic.runtime.migration import MigrationContext, MigrationInfo
from sqlalchemy import Connection, create_engine

from app.kit.db import Base, get_timeouts
from app.kit.settings import Settings
from migrations import auditing, waiting

_ADVISORY_LOCK_KEY = 7_203_114_559


def _get_url() -> str:
    settings = Settings.from_env({"DEMO": "on", **os.environ}, require_servers=False)
    return settings.sqlalchemy_url


def run() -> None:
    """Run the migrations that Alembic's command requests, while no other process migrates."""
    url = _get_url()
    options = {"options": waiting.OPTIONS, "application_name": "labeling-migrate"}
    engine = create_engine(url, connect_args={**get_timeouts(url), **options})
    if getattr(context.config.cmd_opts, "autogenerate", False):
        import_module("app.features")  # imports every model
    with engine.connect() as connection:
        waiting.acquire_advisory_lock(connection, _ADVISORY_LOCK_KEY)
        waiting.retry_while_locked(partial(_migrate, connection))
    engine.dispose()


def _migrate(connection: Connection) -> None:
    """Upgrade or downgrade the database, and refresh the audit functions of changed tables."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        compare_type=True,
        transaction_per_migration=True,
        on_version_apply=_refresh_after_downgrade,
    )
    with context.begin_transaction():
        context.run_migrations()
    connection.commit()  # ends the transaction in which autogenerate only reads
    with connection.begin():
        auditing.refresh(connection)


def _refresh_after_downgrade(*, ctx: MigrationContext, step: MigrationInfo, **_: object) -> None:
    # The audit function of a table fails if a column that it records is removed. After an upgrade,
    # `_migrate` refreshes the functions once, because nothing writes the new columns before that.
    if not step.is_upgrade:
        assert ctx.connection is not None
        auditing.refresh(ctx.connection)


run()
