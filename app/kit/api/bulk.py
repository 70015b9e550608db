"""What every bulk action takes and answers: ids, and one outcome for each of them."""

from typing import Any

from app.kit.api.fields import Bool, Int, List, Nested, Schema, Str, Uuid

MAX_IDS = 1000


def ids(**members: Any) -> List:
    """Return a member of a body that lists up to 1,000 records."""
    return List(Uuid(), max_items=MAX_IDS, **members)


BY_FILTER = ("filter", "expected_count")
"""The way to say which records by a filter, and how many the caller expects it to find."""


def is_by_id(body: dict[str, Any]) -> bool:
    """Whether it is one transaction, whose answer can be kept under an idempotency key."""
    return "filter" not in body


class BulkOutcome(Schema):
    """What became of one record; `code` and `message` say why not."""

    id = Uuid(required=True)
    ok = Bool(required=True)
    code = Str(required=True, allow_none=True)
    message = Str(required=True, allow_none=True)


class BulkResult(Schema):
    """The result of a bulk action.

    By id, `outcomes` has each id once, in the order given; by filter, the ones that failed, at most
    1,000.
    """

    matched = Int(required=True)
    succeeded = Int(required=True)
    failed = Int(required=True)
    outcomes = List(Nested(BulkOutcome), required=True)
