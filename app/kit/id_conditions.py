"""The condition that an id is among many ids, for SQL statements of all features."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, ColumnElement, SQLColumnExpression, Uuid, cast, func


def build_id_condition(
    column: SQLColumnExpression[Any], ids: Iterable[UUID]
) -> ColumnElement[bool]:
    """Build the condition that the value of `column` is among `ids`.

    The condition uses one array, because SQLAlchemy and PostgreSQL are slow with a list of a
    thousand values.
    """
    return column == func.any(cast(list(ids), ARRAY(Uuid)))
