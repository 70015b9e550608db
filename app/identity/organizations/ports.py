"""A port through which plan changes reach billing without importing it."""

from collections.abc import Callable

_bound_functions: list[Callable[[], None]] = []


def bind_billing(cancel_scheduled_change: Callable[[], None]) -> None:
    """Bind the function that cancels the scheduled plan change of the current organization."""
    _bound_functions[:] = [cancel_scheduled_change]


def cancel_scheduled_change() -> None:
    """Cancel the scheduled plan change of the current organization, if there is one."""
    _bound_functions[0]()
