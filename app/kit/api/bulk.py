"""Request fields and the result schema that all bulk actions share."""

from typing import Unpack

from app.kit.api.fields import Bool, FieldOptions, Int, List, Nested, Schema, Str, Uuid

MAX_IDS = 1000


def build_ids_field(**options: Unpack[FieldOptions]) -> List:
    """Return a request field for a list of up to 1,000 record ids."""
    return List(Uuid(), max_items=MAX_IDS, **options)


BY_FILTER = ("filter", "expected_count")
"""The alternative (see `alternatives.Alternative`) that selects records by a filter, not by id."""


def is_action_by_id(body: dict[str, object]) -> bool:
    """Return whether a bulk action selects its records by id and not by a filter.

    An action by id runs in one transaction, so its response can be stored for an idempotency key.
    """
    return "filter" not in body


class BulkOutcome(Schema):
    """The outcome of a bulk action for one record. `code` and `message` are null on success."""

    id = Uuid(required=True)
    ok = Bool(required=True)
    code = Str(required=True, allow_none=True)
    message = Str(required=True, allow_none=True)


class BulkResult(Schema):
    """The result of a bulk action.

    For an action by id, `outcomes` lists each id once, in the order of the request. For an action
    by filter, it lists only failures, at most 1,000.
    """

    matched = Int(required=True, description="The number of ids or of matching records.")
    succeeded = Int(required=True)
    failed = Int(required=True)
    outcomes = List(Nested(BulkOutcome), required=True)
