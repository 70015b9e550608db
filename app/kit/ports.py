"""Functions of higher layers that lower layers call without importing them."""

from typing import Generic, TypeVar

_T = TypeVar("_T")


class Port(Generic[_T]):
    """Holds an object that a higher layer provides, and that the application binds at startup."""

    def __init__(self) -> None:
        self._bound: list[_T] = []

    def bind(self, implementation: _T) -> None:
        """Set the object that `get` returns."""
        self._bound[:] = [implementation]

    def get(self) -> _T:
        """Return the object that `bind` has set. Raises IndexError if there is none."""
        return self._bound[0]
