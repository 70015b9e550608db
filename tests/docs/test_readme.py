"""The README's tour, pasted line by line, against the service that `make run` starts."""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.faults.conftest import Service
from tests.faults.conftest import service as service  # noqa: PLC0414 - a fixture

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.xdist_group("faults")


def paste(script: str, base: str) -> subprocess.CompletedProcess[str]:
    """Run as a reader would; what the script left running does not outlive it."""
    command = ["bash", "-euo", "pipefail", "-c", script]
    environment = {"PATH": "/usr/bin:/bin:/usr/local/bin", "BASE": base, "HOME": "/tmp"}
    with (
        tempfile.TemporaryFile("w+") as output,
        subprocess.Popen(
            command,
            env=environment,
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            process.wait(180)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        output.seek(0)
        return subprocess.CompletedProcess(command, process.returncode, output.read())


def test_the_tour_goes_through_when_pasted(service: Service) -> None:
    blocks = re.findall(r"```sh tour\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(blocks) >= 6
    # The fixture's service delivers to its own address of loopback, under a password of its own.
    script = "".join(blocks).replace("a-demo-password", service.password)
    script = script.replace("127.0.0.1:9000", "127.0.0.2:9000").replace(
        '"$SECRET" 9000', '"$SECRET" 9000 127.0.0.2'
    )
    found = paste(script, service.base)
    assert found.returncode == 0, found.stdout
    assert "2026-11-21" in found.stdout
    for event in ("artifact.ingested", "tag_set.accepted", "export.completed"):
        assert f"verified {event}" in found.stdout, found.stdout
    assert "standardwebhooks: verified" in found.stdout
