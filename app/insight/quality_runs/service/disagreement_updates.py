"""Keep the list of disagreements consistent with the answers of the labelers."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from typing import Any
from uuid import UUID

import orjson

from app.engines.agreement.boxes import Budget
from app.engines.agreement.measures import MAX_MATCHED_MARKS, measure_agreement
from app.engines.agreement.rows import align_rows
from app.engines.agreement.tag_keys import FieldSpec, build_field_specs, build_value_key
from app.insight.quality_runs.models import FRACTION_SCALE
from app.insight.quality_runs.queries import disagreements, records
from app.insight.quality_runs.queries.disagreements import StoredAnswer
from app.kit import db
from app.kit.ids import uuid7

# The limits of a stored disagreement: answers, values of an answer, and characters of a value.
MAX_ANSWERS = 10
MAX_VALUES = 20
MAX_CHARACTERS = 200
STEP_SIZE = 500
"""The maximum number of documents that one call of `update_next_documents` compares."""
_MIN_ANSWERS = 2
Tags = list[dict[str, Any]]


def update(artifact_ids: Sequence[UUID]) -> None:
    """Lock the disagreements, compare the answers for these documents, and store the result."""
    disagreements.lock()
    chunks = disagreements.list_chunks(artifact_ids)
    load_versions = cache(_load_versions)
    rows: list[dict[str, Any]] = []
    for chunk in chunks:
        groups: dict[tuple[UUID, UUID], list[StoredAnswer]] = defaultdict(list)
        for answer in disagreements.list_answers(chunk):
            groups[answer.artifact_id, answer.schema_id].append(answer)
        for (_, schema_id), group in groups.items():
            rows += compare(group, load_versions(schema_id))
    disagreements.replace(artifact_ids, rows)


def update_next_documents(schema_id: UUID, after: UUID) -> UUID | None:
    """Update the disagreements on the next documents of a schema: up to `STEP_SIZE` after `after`.

    Returns the id of the last updated document, or None if there are no more documents.
    """
    artifact_ids = disagreements.list_next_artifact_ids(schema_id, after, STEP_SIZE)
    if not artifact_ids:
        return None
    update(artifact_ids)
    return artifact_ids[-1]


def _load_versions(schema_id: UUID) -> dict[UUID, tuple[int, dict[str, FieldSpec]]]:
    return {
        version.id: (version.number, build_field_specs(version.fields))
        for version in records.list_versions(schema_id)
    }


def compare(
    answers: Sequence[StoredAnswer], versions: dict[UUID, tuple[int, dict[str, FieldSpec]]]
) -> list[dict[str, Any]]:
    """Compare the answers of several labelers for one document, and return the disagreements.

    `versions` maps the id of a schema version to its number and its field specifications. The
    newest schema version among the answers determines the fields. An answer is compared for a field
    only if the field has the same type and the same `multiple` in the answer's version.
    """
    comparable_answers = [answer for answer in answers if answer.version_id in versions]
    if len(comparable_answers) < _MIN_ANSWERS:
        return []
    newest_field_specs = max(
        (versions[answer.version_id] for answer in comparable_answers), key=lambda entry: entry[0]
    )[1]
    groups: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for name, field_spec in newest_field_specs.items():
        positions = tuple(
            position
            for position, answer in enumerate(comparable_answers)
            if versions[answer.version_id][1].get(name) == field_spec
        )
        if len(positions) >= _MIN_ANSWERS:
            groups[positions].append(name)
    rows = []
    for positions, names in groups.items():
        field_specs = {name: newest_field_specs[name] for name in names}
        tag_sets = [
            [tag for tag in comparable_answers[position].tags if tag["field"] in field_specs]
            for position in positions
        ]
        rows += _compare_tag_sets(comparable_answers[0], tag_sets, field_specs)
    return rows


def _compare_tag_sets(
    first_answer: StoredAnswer, tag_sets: list[Tags], field_specs: dict[str, FieldSpec]
) -> list[dict[str, Any]]:
    budget = Budget(MAX_MATCHED_MARKS)
    result = measure_agreement(align_rows(tag_sets, field_specs).tag_sets, field_specs, budget)
    assert result is not None, "there are at least two tag sets"
    return [
        {
            "id": uuid7(),
            "artifact_id": first_answer.artifact_id,
            "schema_id": first_answer.schema_id,
            "field": name,
            "share": round((1 - agreement) * FRACTION_SCALE),
            "raters": len(tag_sets),
            "answers": _summarize(name, tag_sets, field_specs[name]),
            "compared_at": db.utc_now(),
        }
        for name, agreement in result.fields.items()
        if round((1 - agreement) * FRACTION_SCALE) > 0
    ]


def _summarize(name: str, tag_sets: list[Tags], field_spec: FieldSpec) -> list[dict[str, Any]]:
    """Summarize the most frequent answers, without revealing labelers or the accepted answer."""
    counts: dict[Any, int] = defaultdict(int)
    value_by_key: dict[Any, Any] = {}
    for tags in tag_sets:
        field_tags = [tag for tag in tags if tag["field"] == name]
        key = frozenset(map(build_value_key, field_tags))
        values = [_shorten(tag["value"]) for tag in field_tags[:MAX_VALUES]]
        is_list = field_spec.multiple or "." in name
        value_by_key.setdefault(key, values if is_list else next(iter(values), None))
        counts[key] += 1
    ranked_keys = sorted(counts, key=lambda key: (-counts[key], orjson.dumps(value_by_key[key])))
    return [{"value": value_by_key[key], "count": counts[key]} for key in ranked_keys[:MAX_ANSWERS]]


def _shorten(value: object) -> object:
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return value if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"
