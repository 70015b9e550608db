"""Binding for a function of `scheduled_exports` that `exports` calls but must not import."""

from collections.abc import Callable
from typing import TypeAlias
from uuid import UUID

CancelDelivery: TypeAlias = Callable[[UUID], bool]
"""A function that cancels the pending delivery of a completed export's file.

Returns False if the export has no pending delivery.
"""
_bound_functions: list[CancelDelivery] = []


def bind_cancel_delivery(function: CancelDelivery) -> None:
    """Set the function that `cancel_delivery` calls."""
    _bound_functions[:] = [function]


def cancel_delivery(export_id: UUID) -> bool:
    """Call the function that was bound when the application was created (see CancelDelivery)."""
    return _bound_functions[0](export_id)
