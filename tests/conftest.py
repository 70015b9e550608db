"""Fixtures of all tests: real servers, the real application, and one organization per test.

Requests commit for real. Tests keep apart by tenant: each makes its own organization, which is also
what keeps customers apart (docs/decisions/0004).
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from flask import Flask
from hypothesis import settings

from app.kit import logging
from devserver.postgres import EmbeddedPostgres
from devserver.valkey import EmbeddedValkey
from tests.factories import Org, drain, make_org

_LONG = 16

INSIDE = "127.0.0.2/32"
"""The address of loopback that tests allow deliveries to reach; the rest of it is refused."""

# Of a property the same examples are tried in every run, as in CI, and none against the clock.
settings.load_profile("ci")

# Tests speak to this machine only, and no proxy that somebody has set leads there.
for _proxy in ("http_proxy", "https_proxy", "all_proxy"):
    os.environ.pop(_proxy, None)
    os.environ.pop(_proxy.upper(), None)


@pytest.fixture(autouse=True)
def _written_lines() -> Iterator[None]:
    """A test's log lines are with its own output, not with that of whichever test comes next."""
    yield
    logging.flush(10)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a server, so that `make check` can leave them out."""
    for item in items:
        if {"postgres", "valkey"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("service")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name long bytes after their argument: files that tests make carry times, and each process of
    pytest-xdist must collect the same names."""
    return argname if isinstance(val, bytes) and len(val) > _LONG else None


@pytest.fixture
def capfd(capfd: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    """pytest's own, which also waits for log lines: into a file they are written by a thread."""
    read = capfd.readouterr

    def readouterr() -> Any:
        assert logging.flush(10)
        return read()

    capfd.readouterr = readouterr  # type: ignore[method-assign]
    return capfd


@pytest.fixture(scope="session")
def data_dir() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="labeling-tests-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="session")
def postgres(data_dir: Path) -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres(data_dir / "postgres", fast=True) as server:
        yield server


@pytest.fixture(scope="session")
def valkey(data_dir: Path) -> Iterator[EmbeddedValkey]:
    with EmbeddedValkey(data_dir / "valkey") as server:
        yield server


@pytest.fixture(scope="session")
def environ(postgres: EmbeddedPostgres, valkey: EmbeddedValkey, data_dir: Path) -> dict[str, str]:
    """The application's environment, as an operator would set it."""
    return {
        "DATA_DIR": str(data_dir / "data"),
        "DATABASE_URL": postgres.url,
        "REDIS_URL": valkey.url,
        "SECRET_KEY": Fernet.generate_key().decode(),
        "ENCRYPTION_KEYS": Fernet.generate_key().decode(),
        "EGRESS_ALLOWED_NETWORKS": INSIDE,
        "WEBHOOK_ALLOW_HTTP": "on",
        "MAX_UPLOAD_BYTES": str(8 * 1024 * 1024),
        "LOG_LEVEL": "WARNING",
        "RATE_LIMITS": "off",
        "REGISTRATION": "open",
        "CORS_ORIGINS": "https://app.example",
        "CONTROL_PLANE_TOKEN": "control-plane-token-of-the-tests",
        "METRICS_TOKEN": "metrics-token-of-the-tests-0123456789",
        # No letter of one test falls due while a later one looks into its own inbox.
        "NOTIFICATION_WINDOW_SECONDS": "86400",
    }


@pytest.fixture(scope="session")
def app(environ: dict[str, str]) -> Iterator[Flask]:
    """The application on a migrated database."""
    os.environ.update(environ)
    from app.kit.db import upgrade  # noqa: PLC0415 - reads the environment

    upgrade()
    from app.factory import create_app  # noqa: PLC0415
    from tests.factories.tokens import find_undeclared_columns  # noqa: PLC0415

    made = create_app(environ)
    yield made
    # Whatever the tests wrote: a key can be retired only when every token's column is known.
    with made.app_context():
        assert find_undeclared_columns() == [], "declare them: mapped_column(info=encrypted())"


@pytest.fixture
def org(app: Flask) -> Org:
    """An organization with one user per role."""
    return make_org(app)


@pytest.fixture
def other_org(app: Flask) -> Org:
    """Another organization: what it has must never be seen from `org`."""
    return make_org(app)


@pytest.fixture
def work(app: Flask) -> Callable[[], None]:
    """Run the relay and the workers until nothing is due."""
    return lambda: drain(app)
