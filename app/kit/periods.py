"""SQL conditions that limit a column to a period."""

from datetime import datetime
from typing import Any, TypedDict

from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql import ColumnElement

Column = ColumnElement[Any] | InstrumentedAttribute[Any]


class CreatedFilters(TypedDict, total=False):
    """Filters for records created in a period; `created_before` is exclusive."""

    created_after: datetime
    created_before: datetime


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
