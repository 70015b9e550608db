"""The function of connectors that ingestion jobs need but may not import."""

from collections.abc import Callable
from uuid import UUID

_bound_functions: list[Callable[[UUID], object]] = []


def bind_lock_connector(function: Callable[[UUID], object]) -> None:
    """Set the function that `lock_connector` calls."""
    _bound_functions[:] = [function]


def lock_connector(connector_id: UUID) -> None:
    """Lock a connector until the transaction ends, so that nobody else starts a crawl of it."""
    _bound_functions[0](connector_id)
