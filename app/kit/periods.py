"""SQL conditions that limit a column to a period or to the values of filters."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict

from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql import ColumnElement

Column = ColumnElement[Any] | InstrumentedAttribute[Any]


class CreatedFilters(TypedDict, total=False):
    """Filters for records created in a period; `created_before` is exclusive."""

    created_after: datetime
    created_before: datetime


PERIOD_FILTERS = tuple(CreatedFilters.__annotations__)


def get_created_bounds(filters: Mapping[str, Any]) -> tuple[datetime | None, datetime | None]:
    """Return created_after and created_before of `filters`; None if the filter is missing."""
    return filters.get("created_after"), filters.get("created_before")


def build_period_conditions(
    at: Column, after: datetime | None, before: datetime | None
) -> list[ColumnElement[bool]]:
    """Return the SQL conditions for `after <= at < before`. None means that there is no bound."""
    conditions = []
    if after is not None:
        conditions.append(at >= after)
    if before is not None:
        conditions.append(at < before)
    return conditions


def remove_period(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filters without created_after and created_before."""
    return {name: value for name, value in filters.items() if name not in PERIOD_FILTERS}


def build_filter_conditions(model: Any, filters: Mapping[str, Any]) -> list[ColumnElement[bool]]:
    """Build the SQL conditions for `filters`, which maps columns of `model` to their values.

    A list or tuple accepts any of its values. `filters` may also contain created_after and
    created_before.
    """
    period = build_period_conditions(model.created_at, *get_created_bounds(filters))
    columns = sorted(remove_period(filters).items())
    return [*period, *(_build_condition(getattr(model, name), value) for name, value in columns)]


def _build_condition(column: Column, value: object) -> ColumnElement[bool]:
    if not isinstance(value, list | tuple):
        return column == value
    return column == value[0] if len(value) == 1 else column.in_(value)
