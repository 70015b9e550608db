"""Describe how a module of the engines runs in a Python process of its own."""

import os
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)


def build_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module; it needs the environment of `build_environment`."""
    return [sys.executable, "-s", "-P", "-m", module, *arguments]


def build_environment(*, one_thread: bool = False) -> dict[str, str]:
    """Return an environment with the paths of Python and the engines, and without secrets.

    With `one_thread`, numeric libraries use one thread.
    """
    inherited = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    return {
        **inherited,
        "LC_ALL": "C.UTF-8",
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(_ROOT),
        **(_ONE_THREAD if one_thread else {}),
    }
