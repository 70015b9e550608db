"""Conditions, counts and index ranges for the filters of the list of tag sets."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, Subquery, Uuid, cast, func, select

from app.kit import counters, tenancy
from app.kit.pagination import KeyQuery
from app.kit.periods import (
    build_filter_conditions,
    build_period_conditions,
    get_created_bounds,
    remove_period,
)
from app.workflow.tag_sets.counters import TAG_SETS
from app.workflow.tag_sets.models import TagSet

SELECT_KEYS = select(TagSet.created_at, TagSet.updated_at, TagSet.id)
"""A SELECT of the columns by which lists of tag sets are sorted, and of the id."""
VersionIds = Sequence[UUID]


def build_conditions(filters: dict[str, Any]) -> list[ColumnElement[bool]]:
    """Build the conditions that a tag set must meet to match `filters`."""
    return build_filter_conditions(TagSet, filters)


def build_count(
    filters: dict[str, Any],
    *,
    version_ids: VersionIds | None = None,
    labeler_id: UUID | None = None,
) -> ColumnElement[int]:
    """Build an expression for the number of tag sets that match `filters`.

    `version_ids` and `labeler_id` restrict the number to schema versions and to one labeler.
    """
    facet_filters = remove_period(filters)
    rows = select_ids(facet_filters)
    if version_ids is not None:
        facet_filters["version_id"] = version_ids
        rows = rows.where(TagSet.schema_version_id.in_(version_ids))
    if labeler_id is not None:
        facet_filters["labeler_id"] = labeler_id
        rows = rows.where(TagSet.labeler_id == labeler_id)
    after, before = get_created_bounds(filters)
    if "artifact_id" in filters:
        return counters.count(
            rows.where(*build_period_conditions(TagSet.created_at, after, before))
        )
    between = counters.Between("created", TagSet.created_at, after, before, rows)
    return counters.build_total(TAG_SETS, facet_filters, between=between)


def select_ids(filters: dict[str, Any]) -> Select[Any]:
    """Build a SELECT of the ids of the tag sets that match `filters`."""
    # The ORM does not add this condition to a count inside another statement.
    in_organization = TagSet.organization_id == tenancy.current_organization_id()
    return select(TagSet.id).where(in_organization, *build_conditions(filters))


def build_key_queries(filters: dict[str, Any]) -> list[KeyQuery]:
    """Build the index ranges for a page sorted by creation time, or [] if one range suffices."""
    statuses = filters.get("status", ())
    has_labeler = "labeler_id" in filters
    has_many_statuses = len(statuses) > 1 or (
        not statuses and ("schema_id" in filters or "reviewer_id" in filters)
    )
    if "artifact_id" in filters or not (has_labeler or has_many_statuses):
        return []
    facets = ("schema_id", "status") if has_labeler else ("status",)
    branches = select_branches(remove_period(filters), *facets)
    other_filters = {name: value for name, value in filters.items() if name not in facets}
    in_branch = [getattr(TagSet, name) == branches.c[name] for name in facets]
    return [KeyQuery(SELECT_KEYS.where(*in_branch, *build_conditions(other_filters)), branches)]


def select_branches(
    facet_filters: dict[str, Any], *facets: str, excluded_version_ids: VersionIds = ()
) -> Subquery:
    """Build a subquery with one row for each existing combination of values of `facets`.

    Tag sets of `excluded_version_ids` are ignored.
    """
    version_facet = ["version_id"] if excluded_version_ids else []
    cells = counters.select_cells(TAG_SETS, (*facets, *version_facet), facet_filters)
    columns = (cast(cells.c[name], Uuid) if name != "status" else cells.c[name] for name in facets)
    named_columns = (column.label(name) for column, name in zip(columns, facets, strict=True))
    statement = select(*named_columns).group_by(*(cells.c[name] for name in facets))
    if excluded_version_ids:
        statement = statement.where(
            cells.c.version_id.not_in([str(version_id) for version_id in excluded_version_ids])
        )
    return statement.having(func.sum(cells.c.n) > 0).subquery()
