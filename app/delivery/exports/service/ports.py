"""The port through which `exports` calls `scheduled_exports`, which it must not import."""

from collections.abc import Callable
from uuid import UUID

from app.kit.ports import Port

cancel_delivery = Port[Callable[[UUID], bool]]()
"""Cancels the pending delivery of a completed export's file.

The function returns False if the export has no pending delivery.
"""
