"""The README's tour, pasted line by line, against the service that `make run` starts."""

import pytest

from tests.docs.pasting import blocks, paste
from tests.faults.conftest import Service
from tests.faults.conftest import service as service  # noqa: PLC0414 - a fixture

pytestmark = pytest.mark.xdist_group("faults")


def test_the_tour_goes_through_when_pasted(service: Service) -> None:
    # The fixture's service delivers to its own address of loopback, under a password of its own.
    script = blocks("README.md", "tour").replace("a-demo-password", service.password)
    script = script.replace("127.0.0.1:9000", "127.0.0.2:9000").replace(
        '"$SECRET" 9000', '"$SECRET" 9000 127.0.0.2'
    )
    found = paste(script, BASE=service.base)
    assert found.returncode == 0, found.stdout
    assert "2026-11-21" in found.stdout
    for event in ("artifact.ingested", "tag_set.accepted", "export.completed"):
        assert f"verified {event}" in found.stdout, found.stdout
    assert "standardwebhooks: verified" in found.stdout
