"""Evaluate models on documents that they were not trained on."""

from collections.abc import Sequence

from app.engines.extraction.examples import list_targets, prepare_examples, select_examples
from app.engines.extraction.model import MIN_EXAMPLES, Example, NotEnoughExamples, Report
from app.engines.extraction.reports import ComparisonOutcome, build_report, compare_proposals
from app.engines.extraction.sequences import assign_folds
from app.engines.extraction.training import train_model
from app.engines.extraction.values import Target
from app.engines.fields import Field, JsonValue, Tag


def evaluate_folds(examples: Sequence[Example], fields: Sequence[Field], fold_count: int) -> Report:
    """Evaluate models for `fields` by cross-validation on `examples`, and return the report.

    The examples are divided into `fold_count` parts. The tags for the documents of each part are
    predicted by a model that was trained on the other parts. Raises NotEnoughExamples if there are
    fewer examples than `fold_count`, or too few to train on.
    """
    selected_examples = select_examples(examples, fields)
    required_count = max(fold_count, MIN_EXAMPLES + 1)
    if len(selected_examples) < required_count:
        raise NotEnoughExamples(len(selected_examples), required_count)
    assigned_folds = assign_folds(len(selected_examples), fold_count)
    tags: list[list[Tag]] = [[] for _ in selected_examples]
    for fold in range(fold_count):
        training_examples = [
            example
            for example, example_fold in zip(selected_examples, assigned_folds, strict=True)
            if example_fold != fold
        ]
        model = train_model(training_examples, fields, "evaluation")
        for index, example_fold in enumerate(assigned_folds):
            if example_fold == fold:
                tags[index] = model.predict(selected_examples[index].document)
    return compare_tags(selected_examples, tags, fields, fold_count=fold_count)


def compare_tags(
    examples: Sequence[Example],
    tags: Sequence[Sequence[Tag]],
    fields: Sequence[Field],
    *,
    fold_count: int = 0,
) -> Report:
    """Compare the tags proposed for each example with the accepted tags, and return the report.

    `tags` contains the proposed tags of each example. Tables are not compared. `fold_count` is 0 if
    the tags do not come from cross-validation.
    """
    prepared_examples = prepare_examples(examples, fields)
    targets = list_targets(prepared_examples, fields)
    outcomes: list[ComparisonOutcome] = []
    for index, example in enumerate(prepared_examples):
        for target in targets:
            outcomes += _compare_field(
                target, index, example.values.get(target.name, []), tags[index]
            )
    return build_report(outcomes, [e.id for e in prepared_examples], targets, fold_count)


def _compare_field(
    target: Target, document_index: int, values: Sequence[JsonValue], tags: Sequence[Tag]
) -> list[ComparisonOutcome]:
    field_tags = [tag for tag in tags if tag["field"] == target.name]
    outcomes = compare_proposals(
        target, document_index, values, [(tag["value"], 0.0, 0.0) for tag in field_tags]
    )
    for outcome, tag in zip(outcomes, field_tags, strict=False):
        outcome.confidence = tag["confidence"] or 0.0
    return outcomes
