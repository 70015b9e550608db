"""The function of connectors that ingestion jobs call but may not import."""

from collections.abc import Callable
from uuid import UUID

from app.kit.ports import Port

lock_connector = Port[Callable[[UUID], object]]()
"""The port for a function that locks a connector, so that no other transaction starts its crawl."""
