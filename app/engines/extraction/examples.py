"""Select the examples for a training run, and read their accepted values."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version as get_version
from typing import Any

from app.engines.extraction.model import (
    MAX_EXAMPLES,
    MAX_TRAINING_WORDS,
    MAX_WORDS,
    MIN_EXAMPLES,
    Example,
)
from app.engines.extraction.proposing import PreparedDocument, prepare_document
from app.engines.extraction.values import Target, build_target
from app.engines.fields import Field, JsonValue, Tag

FEATURE_VERSION = 1
"""The version of the features; increase it when a change makes stored models unusable."""

MIN_LABELER_LIMIT = 100
"""The number of examples by one labeler that are always allowed.

Beyond this number, a labeler may have only as many examples as all other labelers together, unless
there are no others. Without this minimum, the first example by a second labeler would reduce the
training data to two examples.
"""

_MAX_LEARNED_FIELDS = 40
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "python-crfsuite")


@dataclass(slots=True)
class PreparedExample:
    """An example with its analyzed document; by field key, its values and the evidence of each."""

    id: str
    prepared_document: PreparedDocument
    tags: Sequence[Tag]
    values: dict[str, list[JsonValue]]
    evidence: dict[str, list[list[dict[str, Any]]]]


def select_examples(examples: Sequence[Example], fields: Sequence[Field] = ()) -> list[Example]:
    """Return the newest examples, at most MAX_EXAMPLES, ordered by id.

    If there are two or more labelers, at most half of the examples, or MIN_LABELER_LIMIT examples
    if that is more, are by the same labeler. If an id occurs twice, the highest revision is used.

    The examples have at most MAX_TRAINING_WORDS words together, and fewer with each AI-assisted
    field in `fields`. This limit never reduces the number of examples below MIN_EXAMPLES.
    """
    latest_by_id: dict[str, Example] = {}
    for example in examples:
        previous_example = latest_by_id.get(example.id)
        if previous_example is None or previous_example.revision < example.revision:
            latest_by_id[example.id] = example
    newest_examples = sorted(
        latest_by_id.values(), key=lambda example: (example.accepted_at, example.id), reverse=True
    )
    limited_examples = _limit_examples_by_labeler(newest_examples[: 2 * MAX_EXAMPLES])
    selected_examples = _limit_words(limited_examples[:MAX_EXAMPLES], fields)
    return sorted(selected_examples, key=lambda example: example.id)


def _limit_words(newest_examples: list[Example], fields: Sequence[Field]) -> list[Example]:
    """Keep the newest examples whose words fit the limit for training, at least MIN_EXAMPLES."""
    field_count = sum(field["type"] != "table" and field["ai_assist"] for field in fields)
    # With each field, the processor time per word grows by about a twentieth.
    remaining_words = MAX_TRAINING_WORDS * 20 // (20 + min(field_count, _MAX_LEARNED_FIELDS))
    count = 0
    for example in newest_examples:
        remaining_words -= min(len(example.document.words), MAX_WORDS)
        if remaining_words < 0 and count >= MIN_EXAMPLES:
            break
        count += 1
    return newest_examples[:count]


def _limit_examples_by_labeler(newest_examples: list[Example]) -> list[Example]:
    """Limit the examples by the most frequent labeler to the newest (see MIN_LABELER_LIMIT)."""
    counts = Counter(example.labeler_id for example in newest_examples[:MAX_EXAMPLES])
    if len(counts) < 2:  # noqa: PLR2004 - a single labeler is not limited
        return newest_examples
    labeler_id, count = counts.most_common(1)[0]
    other_count = sum(counts.values()) - count
    remaining_count = max(other_count, MIN_LABELER_LIMIT)
    if count <= remaining_count:
        return newest_examples
    selected_examples = []
    for example in newest_examples:
        if example.labeler_id == labeler_id:
            if remaining_count <= 0:
                continue
            remaining_count -= 1
        selected_examples.append(example)
    return selected_examples


def prepare_examples(examples: Sequence[Example], fields: Sequence[Field]) -> list[PreparedExample]:
    """Analyze the examples' documents, and group the accepted values by field.

    Tables, and fields with `ai_assist` false, are left out.
    """
    field_keys = {f["key"] for f in fields if f["type"] != "table" and f["ai_assist"]}
    return [_prepare_example(example, field_keys) for example in examples]


def _prepare_example(example: Example, field_keys: set[str]) -> PreparedExample:
    values: dict[str, list[JsonValue]] = defaultdict(list)
    evidence: dict[str, list[list[dict[str, Any]]]] = defaultdict(list)
    for tag in example.tags:
        if tag["field"] in field_keys and tag["value"] not in (None, ""):
            values[tag["field"]].append(tag["value"])
            evidence[tag["field"]].append(tag.get("evidence") or [])
    prepared_document = prepare_document(example.document)
    return PreparedExample(
        example.id, prepared_document, example.tags, dict(values), dict(evidence)
    )


def list_targets(
    prepared_examples: Sequence[PreparedExample], fields: Sequence[Field]
) -> list[Target]:
    """List the targets for all fields with `ai_assist`, except tables, in schema order.

    The accepted values of the examples help to choose the `kind` of text fields.
    """
    return [
        build_target(
            field,
            [value for e in prepared_examples for value in e.values.get(field["key"], ())],
        )
        for field in fields
        if field["ai_assist"] and field["type"] != "table"
    ]


def hash_inputs(
    examples: Sequence[Example], fields: Sequence[Field], schema_version_id: str
) -> str:
    """Compute a model's version: a SHA-256 in hex of its training inputs and software versions."""
    content = {
        "examples": [
            [example.id, example.revision] for example in select_examples(examples, fields)
        ],
        "schema_version": schema_version_id,
        "fields": list(fields),
        "features": FEATURE_VERSION,
        "libraries": {name: get_version(name) for name in _LIBRARIES},
    }
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
