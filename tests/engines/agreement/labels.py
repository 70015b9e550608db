"""Create and measure normalized tags of a schema with every type of place."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import orjson

from app.engines.agreement.boxes import Budget
from app.engines.agreement.measures import Agreement, measure_agreement
from app.engines.agreement.tag_keys import build_field_specs
from tests.factories.labels import make_field

FIELD_SPECS = build_field_specs(
    [
        make_field("number", "text"),
        make_field("total", "money"),
        make_field("paid", "boolean"),
        make_field("note", "text", multiple=True),
        make_field("clause", "span", multiple=False),
        make_field("names", "span", multiple=True),
        make_field("stamps", "region", multiple=True),
        make_field("lines", "table", columns=[make_field("item", "text")]),
    ]
)


def tag(field: str, value: Any, *, row: int | None = None, **members: Any) -> dict[str, Any]:
    """Return a tag as it is stored."""
    normal = {"confidence": None, "source": "human", "evidence": []}
    return {"field": field, "value": value, "row": row, **normal, **members}


def span(field: str, start: int, end: int, **members: Any) -> dict[str, Any]:
    """Return a tag of a text range; its value is the range."""
    piece = {"page": None, "box": None, "start": start, "end": end, "text": None}
    return tag(field, f"{start}-{end}", evidence=[piece], **members)


def region(box: list[float], value: str = "", *, page: int = 1) -> dict[str, Any]:
    """Return a tag of a box on a page."""
    piece = {"page": page, "box": box, "start": None, "end": None, "text": None}
    return tag("stamps", value, evidence=[piece])


def measure(
    *sets: list[dict[str, Any]],
    field_specs: Mapping[str, Any] = FIELD_SPECS,
    budget: Budget | None = None,
) -> Agreement:
    """Return the agreement of two or more tag sets."""
    agreement = measure_agreement(sets, field_specs, budget)
    assert agreement is not None
    return agreement


def count_tags(tags: list[dict[str, Any]]) -> Counter[bytes]:
    """Count equal tags."""
    return Counter(orjson.dumps(each, option=orjson.OPT_SORT_KEYS) for each in tags)
