"""Bulk actions of services: one failing record does not undo the others.

An action by id is one transaction. An action by filter is one transaction for each thousand
records, so that a concurrent change of one of them waits for a thousand records and not for a
hundred thousand (decision 0030).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, literal_column, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.exc import SQLAlchemyError

from app.kit import db, db_errors, errors
from app.kit.errors import ApiError
from app.kit.logging import get_logger

BATCH = 1000
"""The number of records that one transaction changes."""
LISTED = 1000
"""The largest number of outcomes in a response."""

log = get_logger(__name__)
Failures = Mapping[UUID, ApiError]
FindUnfit = Callable[[Sequence[UUID]], Failures]
"""Called with the ids of locked records; returns those that must not be changed, and why."""

_UUID_BYTES = 16


class MatchedIds:
    """The ids that a filter matched, packed into sixteen bytes each to save memory."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed

    def __len__(self) -> int:
        return len(self._packed) // _UUID_BYTES

    def batches(self) -> Iterator[list[UUID]]:
        """Yield the ids in their order, in lists of at most `BATCH`."""
        size = BATCH * _UUID_BYTES
        for start in range(0, len(self._packed), size):
            chunk = self._packed[start : start + size]
            yield [
                UUID(bytes=chunk[at : at + _UUID_BYTES]) for at in range(0, len(chunk), _UUID_BYTES)
            ]


def find(chosen: Select[Any], *order: ColumnElement[Any], expected: int | None) -> MatchedIds:
    """Return the ids that `chosen` selects, ordered by `order`; its first column is the id.

    Raises 409 `conflict` with `details.count` if their number differs from `expected`.
    """
    rows = chosen.add_columns(*(by.label(f"by_{n}") for n, by in enumerate(order))).subquery()
    first, *keys = rows.c
    packed = func.string_agg(
        func.uuid_send(first), aggregate_order_by(literal_column("''::bytea"), *keys, first)
    )
    matched = MatchedIds(bytes(db.session().scalar(select(packed)) or b""))
    if len(matched) != expected:
        raise errors.conflict(
            "The filter matches a different number of records than expected.", count=len(matched)
        )
    return matched


def run_in_batches(matched: MatchedIds, act: Callable[[list[UUID]], Failures]) -> dict[str, Any]:
    """Run `act` on the records in batches, one transaction each, and return the result.

    `act` returns the records that failed, and why. If it raises in the first batch, nothing is
    changed and the error is raised. If it raises in a later batch, the earlier batches stay
    committed and all remaining records count as failed, so the result always says what was done.
    """
    failures: dict[UUID, ApiError] = {}
    failed = 0
    for number, batch in enumerate(matched.batches()):
        left = len(matched) - number * BATCH
        try:
            failed_records = act(batch)
            db.checkpoint()
        except (ApiError, SQLAlchemyError) as failure:
            if number == 0:
                raise
            db.discard()
            log.warning("bulk.broken_off", left=left, matched=len(matched), error=str(failure))
            failed += left
            failures.update(dict.fromkeys(batch, _describe_failure(failure)))
            break
        failed += len(failed_records)
        failures.update(failed_records)
        failures = dict(islice(failures.items(), LISTED))
    return _build_filter_result(len(matched), failures, failed=failed)


def build_result(ids: Sequence[UUID], failures: Failures) -> dict[str, Any]:
    """Return the result of an action on `ids`, each listed once and in their order.

    Ids that are not in `failures` have succeeded.
    """
    outcomes = [
        _build_outcome(record_id, failures.get(record_id)) for record_id in dict.fromkeys(ids)
    ]
    failed = sum(not outcome["ok"] for outcome in outcomes)
    return _build_counts(len(outcomes), failed, outcomes)


def _build_filter_result(matched: int, failures: Failures, *, failed: int) -> dict[str, Any]:
    """Return the result of an action on all records that matched a filter, listing failures."""
    outcomes = [_build_outcome(*item) for item in islice(failures.items(), LISTED)]
    return _build_counts(matched, failed, outcomes)


def find_missing(ids: Iterable[UUID], found: Iterable[UUID]) -> dict[UUID, ApiError]:
    """Return a 404 for each of `ids` that was not found or belongs to another organization."""
    known = set(found)
    return {record_id: errors.not_found() for record_id in ids if record_id not in known}


def _describe_failure(failure: ApiError | SQLAlchemyError) -> ApiError:
    error = failure if isinstance(failure, ApiError) else db_errors.translate(failure)
    if isinstance(error, ApiError):
        return error
    log.error("bulk.failed", exc_info=failure)
    return ApiError("internal_error", "An internal error occurred. It has been logged.")


def _build_outcome(identifier: UUID, failure: ApiError | None) -> dict[str, Any]:
    return {
        "id": identifier,
        "ok": failure is None,
        "code": failure.code if failure else None,
        "message": failure.message if failure else None,
    }


def _build_counts(matched: int, failed: int, outcomes: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "matched": matched,
        "succeeded": matched - failed,
        "failed": failed,
        "outcomes": outcomes,
    }
