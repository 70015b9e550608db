"""The exit of workers without a master: through the supervisor's pipe or the watchdog."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BUSY = "print('ready', flush=True)\nwhile True: pass"


def run(code: str, *descriptors: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", f"{code}\n{BUSY}"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "API_LIFELINE_FD": str(next(iter(descriptors), ""))},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=descriptors,
        text=True,
    )


@pytest.mark.parametrize("early", [False, True])
def test_a_worker_ends_with_the_supervisor_even_when_it_hangs(*, early: bool) -> None:
    reading, writing = os.pipe2(os.O_CLOEXEC)
    if early:
        os.close(writing)
    code = "from app.kit.serving import supervision\nsupervision.set_death_signal(0)"
    with run(code, reading) as process:
        assert process.stdout is not None
        if not early:
            assert process.stdout.readline() == "ready\n"
            assert process.poll() is None
            os.close(writing)
        assert process.wait(60) == -signal.SIGKILL
    os.close(reading)


def test_a_worker_without_a_master_ends_when_it_hangs() -> None:
    code = "from app.kit.serving import supervision\nsupervision.restart_watchdog(0.2)"
    with run(code) as process:
        assert process.wait(60) == 1
