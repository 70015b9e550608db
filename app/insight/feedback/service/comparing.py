"""The models with feedback, compared with each other."""

from collections import defaultdict
from dataclasses import replace
from datetime import date
from typing import Any
from uuid import UUID

from app.engines.calibration import Outcomes, compare_models, describe_comparison
from app.insight.feedback.queries import models, summaries
from app.insight.feedback.queries.models import UsedModel
from app.insight.feedback.queries.summaries import Criteria
from app.insight.feedback.service.summaries import build_figures
from app.kit.pagination import Edge, Page, PageRequest, paginate_rows
from app.schemas.artifact_schemas import service as schemas

MAX_PAGE_SIZE = 10
"""The largest page: each of its models is resampled, which takes up to a tenth of a second."""
_ORDER = {"last_day": str, "key": str}


class _ListedModel:
    """A model in the order of the list; `key` is unique."""

    def __init__(self, used: UsedModel, compared_with: str | None) -> None:
        self.used = used
        self.last_day, self.key = _build_sort_key(used)
        self.compared_with = compared_with

    def is_after(self, edge: Edge) -> bool:
        """Return whether the model is on the page after `edge`."""
        if edge.is_first:
            return True
        here, there = (self.last_day, self.key), (edge.values["last_day"], edge.values["key"])
        return here < there if edge.descending else here > there


def _build_sort_key(used: UsedModel) -> tuple[str, str]:
    """Return the sort key of a model: its last day, and a unique key that begins with the first.

    Both are texts, as in a cursor.
    """
    return used.last_day.isoformat(), f"{used.first_day} {used.schema_id} {used.model}"


def list_models(
    *, page: PageRequest, schema_id: UUID | None = None, compare_with: str | None = None
) -> Page:
    """List the models that have feedback, each compared with another one of its schema.

    The other one is `compare_with`, or by default the one before it in time. A page has at most
    `MAX_PAGE_SIZE` models. Raises 404 on an unknown schema.
    """
    if schema_id is not None:
        schemas.get(schema_id)
    listed = _list_models(schema_id, compare_with)

    def fetch(edge: Edge) -> tuple[list[Any], int | None]:
        after = [one for one in listed if one.is_after(edge)]
        after.sort(key=lambda one: (one.last_day, one.key), reverse=edge.descending)
        return after[: edge.limit], len(listed)

    bounded = replace(page, page_size=min(page.page_size, MAX_PAGE_SIZE))
    result = paginate_rows(bounded, _ORDER, fetch)
    return replace(result, items=_build_items(list(result.items)))


def _list_models(schema_id: UUID | None, compare_with: str | None) -> list[_ListedModel]:
    """Return all models; each is compared with the latest one before it of its schema."""
    listed = []
    previous: dict[UUID, str] = {}
    for used in sorted(models.list_used(schema_id), key=_build_sort_key):
        other = compare_with
        if other in (None, used.model):
            other = previous.get(used.schema_id)
        listed.append(_ListedModel(used, other))
        previous[used.schema_id] = used.model
    return listed


def _build_items(listed: list[_ListedModel]) -> list[dict[str, Any]]:
    by_model: dict[tuple[str, str], dict[str, Outcomes]] = defaultdict(dict)
    names: dict[UUID, list[str]] = defaultdict(list)
    for one in listed:
        names[one.used.schema_id].append(one.used.model)
    for schema_id, of_schema in names.items():
        criteria = Criteria(schema_id, of_schema)
        rows = summaries.sum_outcomes(criteria, ("schema_id", "model"), interval="month")
        for (schema, model, month), outcomes in rows:
            by_model[schema, model][month] = outcomes
    return [_build_item(one, by_model[str(one.used.schema_id), one.used.model]) for one in listed]


def _build_item(listed: _ListedModel, months: dict[str, Outcomes]) -> dict[str, Any]:
    used = listed.used
    return {
        "schema_id": used.schema_id,
        "model": used.model,
        "first_date": used.first_day,
        "last_date": used.last_day,
        **build_figures(summaries.merge(months.values())),
        "trend": [
            {"date": date.fromisoformat(f"{month}-01"), **build_figures(months[month])}
            for month in sorted(months)
        ],
        "comparison": _compare(used, listed.compared_with),
    }


def _compare(used: UsedModel, other: str | None) -> dict[str, Any] | None:
    """Return the comparison with another model, or None if there is none."""
    if other is None:
        return None
    pairs = models.list_shared(used.schema_id, used.model, other)
    comparison = compare_models([own for own, _ in pairs], [row for _, row in pairs])
    verdict = describe_comparison(comparison, used.model, other)
    if comparison is None:
        names = ("f1", "other_f1", "difference", "ci_low", "ci_high", "p_value")
        return {"model": other, "documents": 0, **dict.fromkeys(names), "verdict": verdict}
    return {"model": other, **comparison._asdict(), "verdict": verdict}
