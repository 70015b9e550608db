"""List the models with feedback, each compared with another model."""

from collections import defaultdict
from dataclasses import replace
from datetime import date
from operator import attrgetter, gt, lt
from typing import Any, NamedTuple
from uuid import UUID

from app.engines.calibration import Outcomes, compare_models, describe_comparison, merge_outcomes
from app.insight.feedback.queries import models, summaries
from app.insight.feedback.queries.models import ModelWithFeedback
from app.insight.feedback.queries.summaries import SummaryCriteria
from app.insight.feedback.service.summaries import build_metrics
from app.kit.pagination import Page, PageRequest, PageStart, paginate_rows
from app.schemas.artifact_schemas.service import drafts as schemas

MAX_COMPARISONS = 10
"""The maximum number of comparisons on a page. Each takes up to a tenth of a second."""
_SORT_KEY_TYPES = {"last_day": str, "key": str}
_get_sort_key = attrgetter(*_SORT_KEY_TYPES)


class _ListedModel(NamedTuple):
    """A model in the list of models, with its sort keys: the day of its last feedback, and `key`.

    `key` is unique, and begins with the day of the first feedback. Both sort keys are strings,
    because a cursor contains strings. `other_model` is the model to compare with, or None.
    """

    last_day: str
    key: str
    feedback_model: ModelWithFeedback
    other_model: str | None


def list_models(
    *, page: PageRequest, schema_id: UUID | None = None, compare_with: str | None = None
) -> Page:
    """List the models that have feedback, each compared with another model of its schema.

    The other model is `compare_with`. By default, and for `compare_with` itself, it is the previous
    model in the order of the first feedback. A page has at most `MAX_COMPARISONS` comparisons, for
    its first models. Raises 404 for an unknown schema.
    """
    if schema_id is not None:
        schemas.get(schema_id)
    listed_models = _pair_models(schema_id, compare_with)

    def fetch(page_start: PageStart) -> tuple[list[Any], int | None]:
        is_after = lt if page_start.descending else gt
        start_key = tuple(page_start.values.values())
        remaining_models = [
            model
            for model in listed_models
            if page_start.is_first or is_after(_get_sort_key(model), start_key)
        ]
        remaining_models.sort(key=_get_sort_key, reverse=page_start.descending)
        return remaining_models[: page_start.limit], len(listed_models)

    model_page = paginate_rows(page, _SORT_KEY_TYPES, fetch)
    return replace(model_page, items=_build_items(list(model_page.items)))


def _pair_models(schema_id: UUID | None, compare_with: str | None) -> list[_ListedModel]:
    """Return the models with feedback, each with the other model to compare it with."""
    listed_models = []
    previous_models: dict[UUID, str] = {}
    # Sort by first feedback, because work that began with an old model may still be accepted after
    # the first feedback on a new model.
    for feedback_model in sorted(
        models.list_models_with_feedback(schema_id), key=attrgetter("first_day", "model")
    ):
        other_model = compare_with
        if other_model in (None, feedback_model.model):
            other_model = previous_models.get(feedback_model.schema_id)
        key = f"{feedback_model.first_day} {feedback_model.schema_id} {feedback_model.model}"
        listed_models.append(
            _ListedModel(feedback_model.last_day.isoformat(), key, feedback_model, other_model)
        )
        previous_models[feedback_model.schema_id] = feedback_model.model
    return listed_models


def _build_items(listed_models: list[_ListedModel]) -> list[dict[str, Any]]:
    months_by_model: dict[tuple[str, str], dict[str, Outcomes]] = defaultdict(dict)
    # The criteria may also match a listed model in another listed schema. Its outcomes there are
    # not used.
    criteria = SummaryCriteria(
        list({item.feedback_model.schema_id for item in listed_models}),
        list({item.feedback_model.model for item in listed_models}),
    )
    rows = summaries.sum_outcomes(criteria, ("schema_id", "model"), interval="month")
    for (schema_id, model, month), outcomes in rows:
        months_by_model[schema_id, model][month] = outcomes
    comparable_models = [item for item in listed_models if item.other_model is not None]
    omitted_models = set(comparable_models[MAX_COMPARISONS:])
    return [
        _build_item(
            item,
            months_by_model[str(item.feedback_model.schema_id), item.feedback_model.model],
            is_omitted=item in omitted_models,
        )
        for item in listed_models
    ]


def _build_item(
    item: _ListedModel, months: dict[str, Outcomes], *, is_omitted: bool
) -> dict[str, Any]:
    feedback_model = item.feedback_model
    return {
        "schema_id": feedback_model.schema_id,
        "model": feedback_model.model,
        "first_date": feedback_model.first_day,
        "last_date": feedback_model.last_day,
        **build_metrics(merge_outcomes(months.values())),
        "trend": [
            {"date": date.fromisoformat(f"{month}-01"), **build_metrics(months[month])}
            for month in sorted(months)
        ],
        "comparison": None if is_omitted else _compare(feedback_model, item.other_model),
        "comparison_omitted": is_omitted,
    }


def _compare(feedback_model: ModelWithFeedback, other_model: str | None) -> dict[str, Any] | None:
    """Compare a model with another model; return None if there is no other model."""
    if other_model is None:
        return None
    pairs = models.list_shared_outcomes(feedback_model.schema_id, feedback_model.model, other_model)
    comparison = compare_models([left for left, _ in pairs], [right for _, right in pairs])
    verdict = describe_comparison(comparison, feedback_model.model, other_model)
    if comparison is None:
        names = ("f1", "other_f1", "difference", "ci_low", "ci_high", "p_value")
        return {"model": other_model, "documents": 0, **dict.fromkeys(names), "verdict": verdict}
    return {"model": other_model, **comparison._asdict(), "verdict": verdict}
