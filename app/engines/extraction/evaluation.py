"""Evaluate models on documents that they were not trained on."""

from collections.abc import Sequence

from app.engines.extraction.examples import (
    list_targets,
    prepare_examples,
    select_examples,
)
from app.engines.extraction.model import MIN_EXAMPLES, Example, NotEnoughExamples, Report
from app.engines.extraction.reports import ComparisonOutcome, build_report, compare_proposals
from app.engines.extraction.sequences import assign_folds
from app.engines.extraction.training import train_model
from app.engines.extraction.values import Target
from app.engines.fields import Field, JsonValue, Tag


def evaluate_folds(examples: Sequence[Example], fields: Sequence[Field], folds: int) -> Report:
    """Evaluate the engine by cross-validation, and return the report.

    The examples are divided into `folds` parts. The tags for the documents of each part are
    predicted by a model that was trained on the other parts. Raises NotEnoughExamples if there are
    fewer examples than `folds`, or too few to train on.
    """
    selected_examples = select_examples(examples, fields)
    required_count = max(folds, MIN_EXAMPLES + 1)
    if len(selected_examples) < required_count:
        raise NotEnoughExamples(len(selected_examples), required_count)
    assigned_folds = assign_folds(len(selected_examples), folds)
    tags: list[list[Tag]] = [[] for _ in selected_examples]
    for fold in range(folds):
        training_examples = [
            example
            for example, example_fold in zip(selected_examples, assigned_folds, strict=True)
            if example_fold != fold
        ]
        model = train_model(training_examples, fields, "evaluation")
        for number, example_fold in enumerate(assigned_folds):
            if example_fold == fold:
                tags[number] = model.predict(selected_examples[number].document)
    return compare_tags(selected_examples, tags, fields, folds=folds)


def compare_tags(
    examples: Sequence[Example],
    tags: Sequence[Sequence[Tag]],
    fields: Sequence[Field],
    *,
    folds: int = 0,
) -> Report:
    """Compare the tags proposed for each example with the accepted tags, and return the report."""
    prepared_examples = prepare_examples(examples, fields)
    targets = list_targets(prepared_examples, fields)
    outcomes: list[ComparisonOutcome] = []
    for number, example in enumerate(prepared_examples):
        for target in targets:
            outcomes += _compare_field(
                target, number, example.values.get(target.name, []), tags[number]
            )
    return build_report(outcomes, [example.id for example in prepared_examples], targets, folds)


def _compare_field(
    target: Target, number: int, values: Sequence[JsonValue], tags: Sequence[Tag]
) -> list[ComparisonOutcome]:
    field_tags = [tag for tag in tags if tag["field"] == target.name]
    outcomes = compare_proposals(
        target, number, values, [(tag["value"], 0.0, 0.0) for tag in field_tags]
    )
    for outcome, tag in zip(outcomes, field_tags, strict=False):
        outcome.confidence = tag["confidence"] or 0.0
    return outcomes
