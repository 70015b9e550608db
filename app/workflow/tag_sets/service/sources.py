"""Who made a tag: a person cannot pass off work as a machine's."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import orjson

from app.engines.fields import Tag
from app.kit.principal import Caller


def may_claim(tags: Iterable[Tag], caller: Caller) -> bool:
    """Return whether the `source` of each of the tags can be taken as it was sent.

    API keys are how other systems write; only admins make them.
    """
    return caller.api_key_id is not None or all(tag["source"] == "human" for tag in tags)


def set_sources(tags: Iterable[Tag], known: Iterable[Tag]) -> None:
    """Set the source of tags to `human`, unless they are among the `known` ones as they were.

    A tag is the same with the same field, value, confidence, source and places; its row may differ.
    Of equal tags as many keep their source as are known.
    """
    unchanged = Counter(map(_identity, known))
    for tag in tags:
        if tag["source"] == "human":
            continue
        identity = _identity(tag)
        if unchanged[identity]:
            unchanged[identity] -= 1
        else:
            tag["source"] = "human"


def find_missing_tags(known: Iterable[Tag], tags: Iterable[Tag]) -> list[Tag]:
    """Return the `known` tags that are not among `tags`, or less often, by the same identity."""
    left = Counter(map(_identity, tags))
    missing = []
    for tag in known:
        identity = _identity(tag)
        if left[identity]:
            left[identity] -= 1
        else:
            missing.append(tag)
    return missing


def _identity(tag: Tag) -> bytes:
    places: list[Any] = [
        [piece[name] for name in ("page", "box", "start", "end")] for piece in tag["evidence"]
    ]
    members = [tag[name] for name in ("field", "value", "confidence", "source")]
    return orjson.dumps([members, places], option=orjson.OPT_SORT_KEYS)
