"""The function of connectors that ingestion jobs need but may not import."""

from collections.abc import Callable
from uuid import UUID

from app.kit.ports import Port

lock_connector = Port[Callable[[UUID], object]]()
"""Locks a connector until the transaction ends, so that nobody else starts a crawl of it."""
