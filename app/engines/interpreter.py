"""Build the command and the environment to run an engine module in a separate Python process."""

import os
import sys
from pathlib import Path

_PROJECT_ROOT = Path(__file__).resolve().parents[2]
_SINGLE_THREAD_VARIABLES = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)


def build_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs `module` in an environment from `build_environment`."""
    return [sys.executable, "-s", "-P", "-m", module, *arguments]


def build_environment(*, one_thread: bool = False) -> dict[str, str]:
    """Return the environment variables for a module's process, without any secrets.

    With `one_thread`, numeric libraries use one thread.
    """
    library_path = os.environ.get("LD_LIBRARY_PATH")
    return {
        **({} if library_path is None else {"LD_LIBRARY_PATH": library_path}),
        "LC_ALL": "C.UTF-8",
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(_PROJECT_ROOT),
        **(_SINGLE_THREAD_VARIABLES if one_thread else {}),
    }
