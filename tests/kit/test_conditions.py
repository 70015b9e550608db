"""Columns and conditions that queries build from names."""

from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest
from sqlalchemy import func, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import aliased

from app.documents.artifacts.models.documents import Artifact
from app.kit import db
from app.kit.periods import build_filter_conditions
from app.kit.tenancy import build_join
from app.workflow.tag_sets.models import TagSet


class _Row(NamedTuple):
    source: str
    length: int
    id: object


def _compile(condition: Any) -> str:
    compiled = condition.compile(
        dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True}
    )
    return str(compiled)


def test_columns_are_in_the_order_of_the_names() -> None:
    length = func.length(Artifact.name)
    columns = db.build_columns(_Row._fields, TagSet, length=length)
    assert select(*columns).selected_columns.keys() == ["source", "length", "id"]
    assert columns[0] is TagSet.source


def test_an_expression_without_a_name_is_refused() -> None:
    with pytest.raises(AssertionError):
        db.build_columns(_Row._fields, TagSet, size=func.length(Artifact.name))


def test_filters_are_columns_and_a_period() -> None:
    first = datetime(2026, 1, 31, tzinfo=UTC)
    conditions = build_filter_conditions(TagSet, {"source": "merge", "created_after": first})
    assert [_compile(condition) for condition in conditions] == [
        "tag_sets.created_at >= '2026-01-31 00:00:00+00:00'",
        "tag_sets.source = 'merge'",
    ]


def test_a_join_includes_the_organization() -> None:
    assert _compile(build_join(TagSet.artifact_id, Artifact)) == (
        "artifacts.organization_id = tag_sets.organization_id"
        " AND artifacts.id = tag_sets.artifact_id"
    )


def test_a_join_of_an_alias_uses_its_organization() -> None:
    merge = aliased(TagSet, name="merge")
    assert _compile(build_join(merge.artifact_id, Artifact)) == (
        "artifacts.organization_id = merge.organization_id AND artifacts.id = merge.artifact_id"
    )
