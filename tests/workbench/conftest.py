"""One service with the demo organization, and one browser, for all walks."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import Service, running
from tests.workbench.driver import Walker

ROOT = Path(__file__).parents[2]
BASE = "WORKBENCH_BASE"
"""The address of a running service, to develop with; its variables are those of `make run`.

It needs RATE_LIMITS=off and REGISTRATION=open, and DATA_DIR and DEMO_PASSWORD have to be set.
For the tests of single sign-on: EGRESS_ALLOWED_NETWORKS=127.0.0.2/32 and WEBHOOK_ALLOW_HTTP=on.
"""


@pytest.fixture(scope="session")
def build() -> Path:
    """Return the folder of the built application."""
    dist = ROOT / "web" / "dist"
    assert (dist / "index.html").is_file(), "make web/dist/index.html builds it"
    return dist


@pytest.fixture(scope="session")
def workbench(build: Path) -> Iterator[Service]:
    """Run a service that serves the build."""
    settings = {"RATE_LIMITS": "off", "REGISTRATION": "open", "WORKBENCH": "on"}
    with running(**settings) as service:
        yield service


@pytest.fixture(scope="session")
def walker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Walker]:
    pictures = tmp_path_factory.mktemp("pictures")
    if BASE in os.environ:
        mail = Path(os.environ["DATA_DIR"]) / "mail"
        walker = Walker(os.environ[BASE], os.environ["DEMO_PASSWORD"], mail, pictures)
    else:
        service: Service = request.getfixturevalue("workbench")
        walker = Walker(service.base, service.password, service.data_dir / "mail", pictures)
    yield walker
    walker.close()
