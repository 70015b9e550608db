"""Runs the shell blocks of a page as a reader would who pastes them."""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECONDS = 180


def blocks(page: str, kind: str) -> str:
    """All blocks of a page that are marked `sh <kind>`, joined."""
    found = re.findall(rf"```sh {kind}\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert len(found) >= 6
    return "".join(found)


def paste(script: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a script under bash's strict mode; what it left running does not outlive it."""
    command = ["bash", "-euo", "pipefail", "-c", script]
    environment = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": "/tmp", **environ}
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
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            output.write(f"\nstill running after {SECONDS} s\n")
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        return subprocess.CompletedProcess(command, process.returncode, output.read())
