"""Choose the examples of a training, and read the accepted values of each."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version as get_version
from typing import Any

from app.engines.extraction.analysis import analyze
from app.engines.extraction.memory import Memory
from app.engines.extraction.model import MAX_EXAMPLES, Example
from app.engines.extraction.proposing import Reading, read
from app.engines.extraction.tables import learn_headers
from app.engines.extraction.values import Target, list_targets
from app.engines.fields import Field, JsonValue

FEATURE_VERSION = 1
"""Increase this with every change that makes stored models unusable or different."""

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "python-crfsuite")


@dataclass(slots=True)
class Prepared:
    """An example with its analysis and its accepted values by field."""

    id: str
    reading: Reading
    values: dict[str, list[JsonValue]]
    evidence: dict[str, list[list[dict[str, Any]]]]


def select_examples(examples: Sequence[Example]) -> list[Example]:
    """Return the newest examples, at most half of them by one labeler, ordered by id.

    The limit for one labeler applies if there are several. If an id occurs twice, the highest
    revision counts.
    """
    latest: dict[str, Example] = {}
    for example in examples:
        known = latest.get(example.id)
        if known is None or known.revision < example.revision:
            latest[example.id] = example
    newest = sorted(latest.values(), key=lambda one: (one.accepted_at, one.id), reverse=True)
    return sorted(
        _limit_labelers(newest[: 2 * MAX_EXAMPLES])[:MAX_EXAMPLES], key=lambda one: one.id
    )


def _limit_labelers(newest: list[Example]) -> list[Example]:
    counts = Counter(example.labeler_id for example in newest[:MAX_EXAMPLES])
    if len(counts) < 2:  # noqa: PLR2004 - a single labeler is not limited
        return newest
    labeler, count = counts.most_common(1)[0]
    others = sum(counts.values()) - count
    if count <= others:
        return newest
    # Two labelers with one and a hundred examples would leave two examples to learn from.
    room = max(others, MAX_EXAMPLES // 2 if others >= MAX_EXAMPLES // 2 else others)
    kept = []
    for example in newest:
        if example.labeler_id == labeler:
            if room <= 0:
                continue
            room -= 1
        kept.append(example)
    return kept


def prepare(examples: Sequence[Example], fields: Sequence[Field]) -> list[Prepared]:
    """Return the analyzed examples with the accepted values of each field."""
    keys = {field["key"] for field in fields if field["type"] != "table" and field["ai_assist"]}
    return [_prepare_one(example, keys) for example in examples]


def _prepare_one(example: Example, keys: set[str]) -> Prepared:
    values: dict[str, list[JsonValue]] = defaultdict(list)
    evidence: dict[str, list[list[dict[str, Any]]]] = defaultdict(list)
    for tag in example.tags:
        if tag["field"] in keys and tag["value"] not in (None, ""):
            values[tag["field"]].append(tag["value"])
            evidence[tag["field"]].append(tag.get("evidence") or [])
    return Prepared(example.id, read(analyze(example.document)), dict(values), dict(evidence))


def list_all_targets(prepared: Sequence[Prepared], fields: Sequence[Field]) -> list[Target]:
    """Return the targets of all fields; accepted values show the kind of each text field."""
    values: dict[str, list[Any]] = defaultdict(list)
    for one in prepared:
        for name, found in one.values.items():
            values[name].extend(found)
    return list_targets(fields, values)


def build_empty_memory(prepared: Sequence[Prepared]) -> Memory:
    """Return a memory of the documents without values, which are added later."""
    memory = Memory()
    for one in prepared:
        memory.add(one.reading.analysis)
    memory.index()
    return memory


def hash_version(examples: Sequence[Example], fields: Sequence[Field], schema_version: str) -> str:
    """Return the version of a model that is trained on these examples."""
    content = {
        "examples": [[example.id, example.revision] for example in select_examples(examples)],
        "schema_version": schema_version,
        "fields": list(fields),
        "features": FEATURE_VERSION,
        "libraries": {name: get_version(name) for name in _LIBRARIES},
    }
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def find_headers(
    examples: Sequence[Example], prepared: Sequence[Prepared], fields: Sequence[Field]
) -> dict[str, frozenset[str]]:
    """Return the headers of the columns of tables in the examples."""
    pairs = zip(prepared, examples, strict=True)
    return learn_headers(((one.reading.analysis, example.tags) for one, example in pairs), fields)
