"""Build the command and the environment for an engine module in a separate Python process."""

import os
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_SINGLE_THREAD_VARIABLES = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)


def build_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module; run it with the environment of `build_environment`."""
    return [sys.executable, "-s", "-P", "-m", module, *arguments]


def build_environment(*, one_thread: bool = False) -> dict[str, str]:
    """Return the environment variables that a module needs to run; they contain no secrets.

    With `one_thread`, numeric libraries use one thread.
    """
    inherited = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    return {
        **inherited,
        "LC_ALL": "C.UTF-8",
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(_ROOT),
        **(_SINGLE_THREAD_VARIABLES if one_thread else {}),
    }
