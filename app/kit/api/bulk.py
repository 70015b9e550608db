"""What every bulk action takes and answers: ids, and one outcome for each of them."""

from typing import Any

from app.kit.api.fields import Bool, Int, List, Nested, Schema, Str, Uuid

MAX_IDS = 1000


def ids(**members: Any) -> List:
    """A member of a body that lists up to 1,000 records."""
    return List(Uuid(), max_items=MAX_IDS, **members)


class BulkOutcome(Schema):
    """What became of one record; `code` and `message` say why not."""

    id = Uuid(required=True)
    ok = Bool(required=True)
    code = Str(required=True, allow_none=True)
    message = Str(required=True, allow_none=True)


class BulkResult(Schema):
    """What became of all. By id, `outcomes` has each id once, in the order given; by filter, those
    that failed, up to 1,000."""

    matched = Int(required=True)
    succeeded = Int(required=True)
    failed = Int(required=True)
    outcomes = List(Nested(BulkOutcome), required=True)
