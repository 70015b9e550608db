"""Alembic's environment: connects as the owner (DATABASE_URL without the application's role).

Every migration runs under a lock time-out, so that it fails rather than queue behind a long
transaction and hold up everything after it; and under an advisory lock, so that several instances
that start at once migrate once.
"""

import os
from importlib import import_module

from alembic import context
from sqlalchemy import create_engine, text

from app.kit.db import Base
from app.kit.settings import Settings
from migrations import auditing

_ADVISORY_LOCK = 7_203_114_559


def _url() -> str:
    settings = Settings.from_env({"DEMO": "on", **os.environ}, require_servers=False)
    return settings.sqlalchemy_url


def run() -> None:
    """Migrate."""
    engine = create_engine(
        _url(),
        connect_args={
            "options": "-c lock_timeout=5s -c statement_timeout=15min -c timezone=UTC",
            "application_name": "labeling-migrate",
        },
    )
    if getattr(context.config.cmd_opts, "autogenerate", False):
        import_module("app.features")  # knows every model
    with engine.connect() as connection:
        connection.execute(text("SET lock_timeout = '10min'"))
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _ADVISORY_LOCK})
        connection.execute(text("SET lock_timeout = '5s'"))
        connection.commit()
        context.configure(
            connection=connection,
            target_metadata=Base.metadata,
            compare_type=True,
            transaction_per_migration=True,
        )
        with context.begin_transaction():
            context.run_migrations()
        connection.commit()  # of what autogenerating only read
        with connection.begin():
            auditing.refresh(connection)
    engine.dispose()


run()
