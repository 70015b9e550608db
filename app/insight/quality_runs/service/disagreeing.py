"""Keep the list of disagreements consistent with the answers of the labelers."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import orjson

from app.engines.agreement import (
    MOST_MATCHED,
    Budget,
    Shape,
    align_rows,
    build_shapes,
    measure_agreement,
)
from app.engines.agreement.places import build_value_key
from app.insight.quality_runs.models import SHARE_SCALE
from app.insight.quality_runs.queries import disagreements, records
from app.insight.quality_runs.queries.disagreements import StoredAnswer
from app.kit import db
from app.kit.ids import uuid7

MAX_ANSWERS = 10
MAX_VALUES = 20
MAX_CHARACTERS = 200
STEP_SIZE = 500
"""The maximum number of documents that one step of an update compares."""
_PAIR = 2
Tags = list[dict[str, Any]]


def update(artifact_ids: Sequence[UUID]) -> None:
    """Compare the answers to these documents again, and replace their disagreements."""
    disagreements.lock()
    chunks = disagreements.list_chunks(artifact_ids)
    versions: dict[UUID, dict[UUID, tuple[int, dict[str, Shape]]]] = {}
    rows: list[dict[str, Any]] = []
    for chunk in chunks:
        answers: dict[tuple[UUID, UUID], list[StoredAnswer]] = defaultdict(list)
        for answer in disagreements.list_answers(chunk):
            answers[answer.artifact_id, answer.schema_id].append(answer)
        for (_, schema_id), group in answers.items():
            if schema_id not in versions:
                versions[schema_id] = _list_shapes(schema_id)
            rows += compare(group, versions[schema_id])
    disagreements.replace(artifact_ids, rows)


def update_next(schema_id: UUID, after: UUID) -> UUID | None:
    """Update the next documents of a schema; return the last one, or None at the end."""
    artifact_ids = disagreements.list_next(schema_id, after, STEP_SIZE)
    if not artifact_ids:
        return None
    update(artifact_ids)
    return artifact_ids[-1]


def _list_shapes(schema_id: UUID) -> dict[UUID, tuple[int, dict[str, Shape]]]:
    return {
        version.id: (version.number, build_shapes(version.fields))
        for version in records.list_versions(schema_id)
    }


def compare(
    answers: Sequence[StoredAnswer], versions: dict[UUID, tuple[int, dict[str, Shape]]]
) -> list[dict[str, Any]]:
    """Return the disagreements between the answers of several labelers to one document.

    Each field is compared in the answers whose version gives it the same type as the newest version
    of any answer.
    """
    comparable_answers = [answer for answer in answers if answer.version_id in versions]
    if len(comparable_answers) < _PAIR:
        return []
    newest = max(
        (versions[answer.version_id] for answer in comparable_answers), key=lambda entry: entry[0]
    )[1]
    groups: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for name, shape in newest.items():
        positions = tuple(
            position
            for position, answer in enumerate(comparable_answers)
            if versions[answer.version_id][1].get(name) == shape
        )
        if len(positions) >= _PAIR:
            groups[positions].append(name)
    rows = []
    for positions, names in groups.items():
        shapes = {name: newest[name] for name in names}
        sets = [
            [tag for tag in comparable_answers[position].tags if tag["field"] in shapes]
            for position in positions
        ]
        rows += _compare_sets(comparable_answers[0], sets, shapes)
    return rows


def _compare_sets(
    document: StoredAnswer, sets: list[Tags], shapes: dict[str, Shape]
) -> list[dict[str, Any]]:
    budget = Budget(MOST_MATCHED)
    agreement = measure_agreement(align_rows(sets, shapes).sets, shapes, budget)
    assert agreement is not None, "there are at least two sets"
    return [
        {
            "id": uuid7(),
            "artifact_id": document.artifact_id,
            "schema_id": document.schema_id,
            "field": name,
            "share": round((1 - share) * SHARE_SCALE),
            "raters": len(sets),
            "answers": _summarize(name, sets, shapes[name]),
            "compared_at": db.utc_now(),
        }
        for name, share in agreement.fields.items()
        if round((1 - share) * SHARE_SCALE) > 0
    ]


def _summarize(name: str, sets: list[Tags], shape: Shape) -> list[dict[str, Any]]:
    """Return the most frequent answers, without revealing labelers or the accepted answer."""
    counts: dict[Any, int] = defaultdict(int)
    value_by_key: dict[Any, Any] = {}
    for tags in sets:
        field_tags = [tag for tag in tags if tag["field"] == name]
        key = frozenset(map(build_value_key, field_tags))
        values = [_shorten(tag["value"]) for tag in field_tags[:MAX_VALUES]]
        is_list = shape.multiple or "." in name
        value_by_key.setdefault(key, values if is_list else next(iter(values), None))
        counts[key] += 1
    ranked = sorted(counts, key=lambda key: (-counts[key], orjson.dumps(value_by_key[key])))
    return [{"value": value_by_key[key], "count": counts[key]} for key in ranked[:MAX_ANSWERS]]


def _shorten(value: Any) -> Any:
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return value if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"
