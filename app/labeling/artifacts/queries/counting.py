"""SQL of the statistics of documents."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, func, literal_column, select

from app.kit import db
from app.labeling.artifact_schemas.models import ArtifactSchema
from app.labeling.artifacts.models import STATUSES, Artifact

_CURRENT = Artifact.archived.is_(False)
_OPEN = and_(_CURRENT, Artifact.status.not_in(("done", "failed")))
_NOBODY: ColumnElement[Any] = literal_column("CAST('[]' AS jsonb)")


def _age(*, above: str | None, upto: str | None) -> ColumnElement[bool]:
    conditions: list[ColumnElement[bool]] = [_OPEN]
    for days, older in ((above, True), (upto, False)):
        if days is not None:
            moment = func.now() - literal_column(f"interval '{days} days'")
            conditions.append(
                Artifact.created_at <= moment if older else Artifact.created_at > moment
            )
    return and_(*conditions)


_COUNTS: dict[str, ColumnElement[bool]] = {
    **{status: and_(_CURRENT, Artifact.status == status) for status in STATUSES},
    "total": _CURRENT,
    "open": _OPEN,
    "under_1_day": _age(above=None, upto="1"),
    "under_1_week": _age(above="1", upto="7"),
    "under_1_month": _age(above="7", upto="30"),
    "older": _age(above="30", upto=None),
    "overdue": and_(_OPEN, Artifact.due_at < func.now()),
    "unassigned": and_(_OPEN, Artifact.assignees == _NOBODY),
    "claimed": and_(
        _CURRENT, Artifact.claim_user_id.is_not(None), Artifact.claim_expires_at > func.now()
    ),
    "gold": and_(_CURRENT, Artifact.gold.is_(True)),
    "archived": Artifact.archived.is_(True),
}
_BY_SCHEMA: Any = select(
    Artifact.schema_id,
    *(func.count().filter(which).label(name) for name, which in _COUNTS.items()),
).group_by(Artifact.schema_id)


def by_schema(filters: dict[str, Any]) -> Sequence[Row[Any]]:
    """Every count (see `_COUNTS`) of each schema's documents, with the schema's name; the schemas
    in the order of their names, documents without one last."""
    statement = _BY_SCHEMA
    for name, value in filters.items():
        if name == "created_after":
            statement = statement.where(Artifact.created_at > value)
        elif name == "created_before":
            statement = statement.where(Artifact.created_at < value)
        else:
            statement = statement.where(getattr(Artifact, name) == value)
    counted = statement.subquery()
    named = (
        select(counted, ArtifactSchema.name)
        .outerjoin(ArtifactSchema, ArtifactSchema.id == counted.c.schema_id)
        .order_by(ArtifactSchema.name, counted.c.schema_id)
    )
    return db.session().execute(named).all()
