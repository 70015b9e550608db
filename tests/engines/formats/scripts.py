"""Scripts that write files in a process of their own."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]
_PEAK = r"""
import re
class Nothing:
    def write(self, data): pass
def peak():  # of this process alone: ru_maxrss includes that of its parent before exec
    return int(re.search("VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


def run_script(script: str, env: Mapping[str, str] | None = None) -> str:
    """Run a script, and return what it prints."""
    command = [sys.executable, "-c", script]
    return subprocess.run(
        command, cwd=_ROOT, env=env, capture_output=True, text=True, check=True
    ).stdout


def measure_peaks(script: str) -> tuple[int, int]:
    """Run a script that sets `early`, and return the memory `early` and at its end in KiB.

    The script can use the file `Nothing()`, which keeps nothing, and the function `peak`.
    """
    early, late = run_script(f"{_PEAK}{script}print(early, peak())").split()
    return int(early), int(late)
