"""One service with the demo organization, and one browser, for all tests of the workbench."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.faults.conftest import Service, run_service
from tests.workbench.driver import Walker

ROOT = Path(__file__).parents[2]
CONTROL_PLANE_TOKEN = os.environ.get("CONTROL_PLANE_TOKEN", "control-plane-token-of-the-walks")
BASE = "WORKBENCH_BASE"
"""The environment variable with the address of a running service, for developing the tests.

Start the service with `make run`, RATE_LIMITS=off and REGISTRATION=open. The tests need the same
values of DATA_DIR and DEMO_PASSWORD as the service.
For webhooks and single sign-on: EGRESS_ALLOWED_NETWORKS=127.0.0.2/32 and WEBHOOK_ALLOW_HTTP=on.
For connectors: CONNECTOR_ALLOWED_NETWORKS=127.0.0.0/8 and CONNECTOR_ALLOW_UNENCRYPTED=true.
For invoices: BILLING_FILE with the absolute path of examples/billing.toml, CONTROL_PLANE_TOKEN.
"""

_until_last_test = ExitStack()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    """Stop the service and the browser after the last test of this folder.

    All tests that use them are in one group, so no later test of this process needs them. When
    idle, they would use processor time until the end of the test run.
    """
    try:
        return (yield)
    finally:
        if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
            _until_last_test.close()


@pytest.fixture(scope="session")
def _stop_shared() -> Iterator[None]:
    """Stop the service and the browser at the end of the test run, if they are still running."""
    with _until_last_test:
        yield


@pytest.fixture(scope="session")
def build() -> Path:
    """Return the folder of the built application."""
    dist = ROOT / "web" / "dist"
    assert (dist / "index.html").is_file(), "make web/dist/index.html builds it"
    return dist


@pytest.fixture(scope="session")
def workbench(build: Path, _stop_shared: None) -> Service:
    """Run a service that serves the build."""
    settings = {
        "RATE_LIMITS": "off",
        "REGISTRATION": "open",
        "WORKBENCH": "on",
        "BILLING_FILE": str(ROOT / "examples" / "billing.toml"),
        "CONTROL_PLANE_TOKEN": CONTROL_PLANE_TOKEN,
    }
    return _until_last_test.enter_context(run_service(**settings))


@pytest.fixture(scope="session")
def data_dir(request: pytest.FixtureRequest) -> Path:
    """Return the data folder of the service that the tests use."""
    if BASE in os.environ:
        return Path(os.environ["DATA_DIR"]).absolute()
    service: Service = request.getfixturevalue("workbench")
    return service.data_dir


@pytest.fixture(scope="session")
def walker(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    data_dir: Path,
    _stop_shared: None,
) -> Walker:
    screenshots = tmp_path_factory.mktemp("screenshots")
    mail = data_dir / "mail"
    if BASE in os.environ:
        walker = Walker(os.environ[BASE], os.environ["DEMO_PASSWORD"], mail, screenshots)
    else:
        service: Service = request.getfixturevalue("workbench")
        walker = Walker(service.base, service.password, mail, screenshots)
    return _until_last_test.enter_context(closing(walker))
