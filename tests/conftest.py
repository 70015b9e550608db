"""Fixtures for all tests: real servers, the real application, and one organization per test.

Requests are committed. Each test creates its own organization, so that tests are isolated in the
same way as customers are (docs/decisions/0004).
"""

import gc
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from socketserver import BaseServer
from typing import Any

import psycopg2
import pytest
from argon2 import PasswordHasher
from cryptography.fernet import Fernet
from flask import Flask
from werkzeug.serving import BaseWSGIServer

from app.engines import interpreter
from app.kit import logging, metrics, secrets
from devserver.postgres import EmbeddedPostgres
from devserver.valkey import EmbeddedValkey
from tests.factories import Org, drain, make_org
from tests.factories.processes import SHARED
from tests.factories.properties import load_profile
from tests.factories.work import DISCARD_PENDING_WORK, postpone_periodic_jobs
from tests.scheduling import Scheduling

ROOT = Path(__file__).parents[1]
_MAX_ID_BYTES = 16
_databases: list[str] = []
# Appending the entries of an organization to its hash chain takes 10 ms. Entries that belong to no
# organization stay, so that their chain has no gap.
_DISCARD_PENDING_ENTRIES = """
DELETE FROM audit_unsealed WHERE organization_id IN (SELECT id FROM organizations)
"""
_service_hasher = secrets._hasher

INSIDE = "127.0.0.2/32"
"""The only loopback address to which the service may send outbound requests in tests."""

load_profile()
# The application in the tests has the same level. Tests that change the level restore it.
logging.configure("WARNING", "json")

# Servers poll for their shutdown at this interval in seconds. With the default of 0.5 s, stopping
# servers took two minutes of the suite.
BaseServer.serve_forever.__defaults__ = BaseWSGIServer.serve_forever.__defaults__ = (0.02,)

# The service's own processes also use one thread. With more threads, the numeric libraries wait in
# busy loops, while other tests need the processor.
os.environ |= interpreter._SINGLE_THREAD_VARIABLES

# Tests need no durable files, and calls are slow on a disk that PostgreSQL also writes to.
os.fsync = lambda _descriptor: None

# Tests only connect to this machine, which a proxy cannot reach.
for _proxy in ("http_proxy", "https_proxy", "all_proxy"):
    os.environ.pop(_proxy, None)
    os.environ.pop(_proxy.upper(), None)


def pytest_configure(config: pytest.Config) -> None:
    """Create the folder that all processes of a run share, before pytest-xdist starts them."""
    if not hasattr(config, "workerinput"):
        os.environ[SHARED] = folder = tempfile.mkdtemp(prefix="labeling-tests-shared-")
        Path(folder).chmod(0o755)
        config.add_cleanup(partial(shutil.rmtree, folder, ignore_errors=True))


@pytest.fixture(scope="session", autouse=True)
def _hash_quickly() -> None:
    """Hash passwords at Argon2's lowest costs, except in tests that use `service_hasher`."""
    secrets._hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture
def service_hasher(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hash passwords as the service does, which takes about 20 ms each."""
    monkeypatch.setattr(secrets, "_hasher", _service_hasher)
    secrets.build_dummy_hash.cache_clear()
    yield
    secrets.build_dummy_hash.cache_clear()


def _flush_log() -> Iterator[None]:
    """Write the log lines of a phase while pytest still captures its output."""
    try:
        return (yield)
    finally:
        logging.flush(10)


# The hooks of pytest's capture are wrappers, too; with `trylast`, these wrappers are inside them.
pytest_runtest_setup = pytest_runtest_call = pytest_runtest_teardown = pytest.hookimpl(
    wrapper=True, trylast=True
)(_flush_log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a server, so that `make check` can exclude them.

    All tests of a module that has module-scoped fixtures run in one process, so that the fixtures
    are set up only once.
    """
    for item in items:
        if {"postgres", "valkey"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("service")
        if _has_module_fixture(item) and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.relative_to(ROOT).as_posix()))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling | None:
    """Use `Scheduling`, which distributes the tests in linear time, for `--dist loadgroup`."""
    return Scheduling(config, log) if config.getoption("dist") == "loadgroup" else None


def _has_module_fixture(item: pytest.Item) -> bool:
    """Return whether a test uses a module-scoped fixture that its own module defines."""
    info = getattr(item, "_fixtureinfo", None)
    module = item.nodeid.partition("::")[0]
    return info is not None and any(
        fixture[-1].scope == "module" and fixture[-1].baseid == module
        for fixture in info.name2fixturedefs.values()
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Import a share of the test modules first in each process of a complete run.

    All processes collect the modules in the same order, so each would compile all modules. With
    shares, each module is compiled by one process, and the others read its cached bytecode.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    modules = sorted(ROOT.glob("tests/**/test_*.py"))
    number = int(worker["workerid"].removeprefix("gw"))
    for path in modules[number :: worker["workercount"]]:
        # A module that cannot be imported is reported when it is collected.
        with suppress(Exception):
            import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """Exclude permanent objects from garbage collection; this saves a tenth of the suite's time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Use the argument's name as the id of a parameter that is a long bytes object.

    Generated files contain timestamps, but all pytest-xdist processes must collect the same ids.
    """
    return argname if isinstance(val, bytes) and len(val) > _MAX_ID_BYTES else None


@pytest.fixture
def capfd(capfd: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    """Write all log lines before the output is read, because a thread writes them later."""
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
    """Return the application's environment, as an operator would set it."""
    return {
        "DATA_DIR": str(data_dir / "data"),
        "DATABASE_URL": postgres.url,
        "REDIS_URL": valkey.url,
        "SECRET_KEY": Fernet.generate_key().decode(),
        "ENCRYPTION_KEYS": Fernet.generate_key().decode(),
        "EGRESS_ALLOWED_NETWORKS": INSIDE,
        "CONNECTOR_ALLOWED_NETWORKS": INSIDE,
        "MODEL_SERVER_ALLOWED_NETWORKS": INSIDE,
        "MODEL_SERVER_ALLOW_HTTP": "on",
        "CONNECTOR_ALLOW_UNENCRYPTED": "on",
        "CONNECTOR_LOCAL_ROOT": str(data_dir / "connectors"),
        "WEBHOOK_ALLOW_HTTP": "on",
        "BILLING_FILE": str(ROOT / "examples/billing.toml"),
        "MAX_UPLOAD_BYTES": str(8 * 1024 * 1024),
        "LOG_LEVEL": "WARNING",
        # Text recognition takes seconds per page, and only its own tests need it.
        "OCR": "off",
        "RATE_LIMITS": "off",
        # The workbench has its own tests in tests/workbench. Pages for email links need no scripts.
        "WORKBENCH": "off",
        "REGISTRATION": "open",
        "CORS_ORIGINS": "https://app.example",
        "CONTROL_PLANE_TOKEN": "control-plane-token-of-the-tests",
        "METRICS_TOKEN": "metrics-token-of-the-tests-0123456789",
        # The emails of a test must not become due during a later test.
        "NOTIFICATION_WINDOW_SECONDS": "86400",
    }


@pytest.fixture(scope="session")
def app(environ: dict[str, str]) -> Iterator[Flask]:
    """Create the application on a migrated database."""
    os.environ.update(environ)
    from app.kit.db import upgrade  # noqa: PLC0415 - reads the environment

    upgrade()
    from app.factory import create_app  # noqa: PLC0415
    from tests.factories.tokens import find_undeclared_columns  # noqa: PLC0415

    app = create_app(environ)
    _databases.append(environ["DATABASE_URL"])
    # In a new database, all periodic jobs are due. Run them now; otherwise the first test that runs
    # jobs would also run the daily jobs for the organizations of all earlier tests.
    drain(app)
    postpone_periodic_jobs(app)
    yield app
    # When this process exits, Valkey has already been stopped.
    metrics.set_client_factory(None)
    # An encryption key can only be removed if all columns with encrypted values are known.
    with app.app_context():
        assert find_undeclared_columns() == [], (
            "declare them: mapped_column(info=build_encryption_info())"
        )


@pytest.fixture(scope="module", autouse=True)
def _discard_pending_work() -> Iterator[None]:
    """Delete the pending jobs and deliveries of a module, so that later tests do not run them."""
    yield
    for url in _databases:
        with closing(psycopg2.connect(url)) as connection, connection, connection.cursor() as sql:
            sql.execute("SET LOCAL lock_timeout = '10s'; SET LOCAL app.all_organizations = 'on'")
            for statement in (*DISCARD_PENDING_WORK, _DISCARD_PENDING_ENTRIES):
                sql.execute(statement)


@pytest.fixture
def org(app: Flask) -> Org:
    """Create an organization with one user per role."""
    return make_org(app)


@pytest.fixture
def other_org(app: Flask) -> Org:
    """Create another organization, whose records must never be visible from `org`."""
    return make_org(app)


@pytest.fixture
def work(app: Flask) -> Callable[[], None]:
    """Return a function that runs the relay and the workers until no work is due."""
    return lambda: drain(app)
