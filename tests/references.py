"""The reference libraries that statistics are compared with.

Some are in a folder of their own, which `make .venv/references.stamp` installs. They are imported
at their first use: each process of a run collects all tests, and importing them takes seconds.
"""

import importlib
import sys
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

_FOLDER = str(Path(sys.prefix) / "references")


class _Lazy:
    """A proxy for an object that is imported at its first use."""

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            # pytest asks every name of a module whether it is a test.
            raise AttributeError(name)
        return getattr(self._load(), name)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._load()(*args, **options)


def import_lazily(module: str, name: str | None = None) -> Any:
    """Return a proxy for a module, or for a class or function in it.

    `module` may be one of the references.
    """
    return _Lazy(partial(_import, module, name))


@cache
def _import(module: str, name: str | None) -> Any:
    if _FOLDER not in sys.path:
        sys.path.append(_FOLDER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = importlib.import_module(module)
    return loaded if name is None else getattr(loaded, name)
