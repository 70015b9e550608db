"""Evaluate models on documents that they were not trained on."""

from collections.abc import Sequence

from app.engines.extraction.examples import list_all_targets, prepare, select_examples
from app.engines.extraction.model import MIN_EXAMPLES, Example, NotEnoughExamples, Report
from app.engines.extraction.reports import Outcome, build_report, judge
from app.engines.extraction.sequences import assign_folds
from app.engines.extraction.training import train_model
from app.engines.extraction.values import Target
from app.engines.fields import Field, JsonValue, Tag


def evaluate_folds(examples: Sequence[Example], fields: Sequence[Field], folds: int) -> Report:
    """Return the results of models that were each trained without one fold."""
    selected = select_examples(examples)
    if len(selected) < max(folds, MIN_EXAMPLES + 1):
        raise NotEnoughExamples(len(selected))
    assigned = assign_folds(len(selected), folds)
    tags: list[list[Tag]] = [[] for _ in selected]
    for fold in range(folds):
        inside = [one for one, other in zip(selected, assigned, strict=True) if other != fold]
        model = train_model(inside, fields, "evaluation")
        for number, other in enumerate(assigned):
            if other == fold:
                tags[number] = model.predict(selected[number].document)
    return compare(selected, tags, fields, folds=folds)


def compare(
    examples: Sequence[Example],
    tags: Sequence[Sequence[Tag]],
    fields: Sequence[Field],
    *,
    folds: int = 0,
) -> Report:
    """Return the report of proposed tags, given per example, against the accepted ones."""
    prepared = prepare(examples, fields)
    targets = list_all_targets(prepared, fields)
    outcomes: list[Outcome] = []
    for number, one in enumerate(prepared):
        for target in targets:
            outcomes += _judge(target, number, one.values.get(target.name, []), tags[number])
    return build_report(outcomes, [one.id for one in prepared], targets, folds)


def _judge(
    target: Target, number: int, values: Sequence[JsonValue], tags: Sequence[Tag]
) -> list[Outcome]:
    own = [tag for tag in tags if tag["field"] == target.name]
    found = judge(target, number, values, [(tag["value"], 0.0, 0.0) for tag in own])
    for outcome, tag in zip(found, own, strict=False):
        outcome.confidence = tag["confidence"] or 0.0
    return found
