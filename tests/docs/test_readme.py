"""The README's tour, pasted line by line, against the service that `make run` starts."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.faults.conftest import Service
from tests.faults.conftest import service as service  # noqa: PLC0414 - a fixture

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.xdist_group("faults")


def test_the_tour_goes_through_when_pasted(service: Service) -> None:
    blocks = re.findall(r"```sh tour\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(blocks) >= 6
    # The fixture's service delivers to its own address of loopback, under a password of its own.
    script = "".join(blocks).replace("a-demo-password", service.password)
    script = script.replace("127.0.0.1:9000", "127.0.0.2:9000").replace(
        '"$SECRET" 9000', '"$SECRET" 9000 127.0.0.2'
    )
    found = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "BASE": service.base, "HOME": "/tmp"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert "2026-11-21" in found.stdout
    for event in ("artifact.ingested", "tag_set.accepted", "export.completed"):
        assert f"verified {event}" in found.stdout, found.stdout + found.stderr
    assert "standardwebhooks: verified" in found.stdout
