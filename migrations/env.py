"""Alembic's environment: connects as the owner (DATABASE_URL without the application's role).

The service may be at work meanwhile, with the code of before. A migration waits for a table only
briefly, and tries again for minutes (`migrations/waiting.py`); what takes long is a step of
`migrations/live.py`. An advisory lock lets several instances that start at once migrate once.
"""

import os
from functools import partial
from importlib import import_module

from alembic import context
from sqlalchemy import Connection, create_engine

from app.kit.db import Base
from app.kit.settings import Settings
from migrations import auditing, waiting

_ADVISORY_LOCK = 7_203_114_559


def _url() -> str:
    settings = Settings.from_env({"DEMO": "on", **os.environ}, require_servers=False)
    return settings.sqlalchemy_url


def run() -> None:
    """Migrate."""
    # Row-level security binds the owner too. And when nobody waits for an answer any more, the
    # server is to stop, so that what was begun is not ended beside a second attempt.
    options = (
        f"-c lock_timeout={waiting.LOCK_TIMEOUT} -c statement_timeout=15min -c timezone=UTC"
        " -c app.all_organizations=on -c client_connection_check_interval=2s"
    )
    engine = create_engine(
        _url(), connect_args={"options": options, "application_name": "labeling-migrate"}
    )
    if getattr(context.config.cmd_opts, "autogenerate", False):
        import_module("app.features")  # knows every model
    with engine.connect() as connection:
        waiting.alone(connection, _ADVISORY_LOCK)
        waiting.patiently(partial(_migrate, connection))
    engine.dispose()


def _migrate(connection: Connection) -> None:
    """Go on from the revision that the database is at."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        compare_type=True,
        transaction_per_migration=True,
        on_version_apply=lambda ctx, **_: auditing.refresh(ctx.connection),
    )
    with context.begin_transaction():
        context.run_migrations()
    connection.commit()  # of what autogenerating only read
    with connection.begin():
        auditing.refresh(connection)


run()
