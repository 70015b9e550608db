"""The reference libraries that statistics are compared with, in a folder of their own.

`make .venv/references.stamp` installs them.
"""

import importlib
import sys
import warnings
from pathlib import Path
from typing import Any

_FOLDER = str(Path(sys.prefix) / "references")


def load_reference(name: str) -> Any:
    """Return a module of the references, such as `statsmodels.stats.proportion`."""
    if _FOLDER not in sys.path:
        sys.path.append(_FOLDER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)
