"""SQL conditions that limit a column to a period."""

from datetime import datetime
from typing import Any

from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql import ColumnElement

Column = ColumnElement[Any] | InstrumentedAttribute[Any]


def within(
    at: Column, after: datetime | None, before: datetime | None
) -> list[ColumnElement[bool]]:
    """Return the SQL conditions for `after <= at < before`. None means that there is no bound."""
    conditions = []
    if after is not None:
        conditions.append(at >= after)
    if before is not None:
        conditions.append(at < before)
    return conditions
