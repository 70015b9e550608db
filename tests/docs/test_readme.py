"""The README's tour, pasted line by line, against the service that `make run` starts."""

from collections.abc import Iterator

import pytest

from devserver.process import find_free_port
from tests.docs.pasting import blocks, paste
from tests.faults.conftest import Service, run_service

# Beside tests/faults, and not after all of them.
pytestmark = pytest.mark.xdist_group("services")


@pytest.fixture
def service() -> Iterator[Service]:
    """Run a service with rate limits, as the reader's has."""
    with run_service() as service:
        yield service


def test_the_tour_goes_through_when_pasted(service: Service) -> None:
    # The fixture's service delivers to its own address of loopback, under a password of its own.
    script = blocks("README.md", "tour").replace("a-demo-password", service.password)
    port = str(find_free_port())
    for written, ours in (
        ("127.0.0.1:9000", f"127.0.0.2:{port}"),
        ('"$SECRET" 9000', f'"$SECRET" {port} 127.0.0.2'),
    ):
        assert written in script
        script = script.replace(written, ours)
    found = paste(script, BASE=service.base)
    assert found.returncode == 0, found.stdout
    assert "2026-11-21" in found.stdout
    for event in ("artifact.ingested", "tag_set.accepted", "export.completed"):
        assert f"verified {event}" in found.stdout, found.stdout
    assert "standardwebhooks: verified" in found.stdout
