"""Pagination cursors: opaque, signed, and bound to one list.

A cursor contains the sort values of the row at the edge of the page, the direction, and the exact
total that was counted for the first page. Its signature covers the organization or user, the
operation, the filters and the sort order, so a cursor from another list is rejected.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from app.kit import container, errors

PATTERN = "^[A-Za-z0-9_-]+$"
_SIGNATURE_BYTES = 16


@dataclass(frozen=True, slots=True)
class Cursor:
    """A decoded cursor: the direction, the total, and the sort values at the edge of the page."""

    backward: bool
    total: int
    values: list[Any]


JsonScalar = str | float | bool | None


def build_binding(*, scope: str, operation: str, sort: str, filters: Mapping[str, Any]) -> bytes:
    """Return bytes that identify a list. A cursor is valid only for the list it was created for."""
    return orjson.dumps(
        [scope, operation, sort, dict(filters)], option=orjson.OPT_SORT_KEYS, default=str
    )


def encode(cursor: Cursor, list_binding: bytes) -> str:
    """Return the cursor as a string, signed for the list that `list_binding` identifies."""
    payload = orjson.dumps([int(cursor.backward), cursor.total, cursor.values], default=str)
    signature = container.keyring().sign("cursor", payload + list_binding)
    return base64.urlsafe_b64encode(signature + payload).rstrip(b"=").decode()


def decode(text: str, list_binding: bytes) -> Cursor:
    """Decode a cursor that `encode` returned.

    Raises 422 for `cursor` if it is malformed, or if `list_binding` identifies another list.
    """
    try:
        raw = base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    except ValueError:
        raise _build_error() from None
    signature, payload = raw[:_SIGNATURE_BYTES], raw[_SIGNATURE_BYTES:]
    if not container.keyring().verify("cursor", payload + list_binding, signature):
        raise _build_error()
    backward, total, values = orjson.loads(payload)
    return Cursor(bool(backward), total, values)


def _build_error() -> errors.ApiError:
    message = "The cursor does not belong to this list. Request the first page again."
    return errors.unprocessable("cursor", message)


def _parse_value(value_type: type, value: JsonScalar) -> object:
    if value_type is datetime:
        return datetime.fromisoformat(str(value))
    return UUID(str(value)) if value_type is UUID else value


def parse_values(cursor: Cursor, types: Sequence[type]) -> list[Any]:
    """Return the cursor's sort values, converted to `types`.

    Raises 422 for `cursor` if it has a different number of values.
    """
    if len(cursor.values) != len(types):  # from a release with another sort order
        raise _build_error()
    return [
        _parse_value(value_type, value)
        for value_type, value in zip(types, cursor.values, strict=True)
    ]
