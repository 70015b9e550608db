"""Bulk actions on records. A failing record does not undo the changes to the other records.

An action by id runs in one transaction. An action by filter uses one transaction per batch of a
thousand records, so that a concurrent change to a record waits for one batch only (decision 0030).
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

BATCH_SIZE = 1000
"""The maximum number of records that one transaction changes."""
MAX_OUTCOMES = 1000
"""The maximum number of outcomes in a response."""

log = get_logger(__name__)
Failures = Mapping[UUID, ApiError]
FindFailures = Callable[[Sequence[UUID]], Failures]
"""A function that receives the ids of locked records, and returns an error for each record that
must not be changed."""

_UUID_BYTES = 16


class MatchedIds:
    """The ids of the records that a filter matched. Each id takes only sixteen bytes of memory."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed

    def __len__(self) -> int:
        return len(self._packed) // _UUID_BYTES

    def iterate_batches(self) -> Iterator[list[UUID]]:
        """Yield lists of at most `BATCH_SIZE` ids, in the order of the query."""
        size = BATCH_SIZE * _UUID_BYTES
        for start in range(0, len(self._packed), size):
            chunk = self._packed[start : start + size]
            offsets = range(0, len(chunk), _UUID_BYTES)
            yield [UUID(bytes=chunk[offset : offset + _UUID_BYTES]) for offset in offsets]


def find_ids(
    statement: Select[Any], *order: ColumnElement[Any], expected_count: int | None
) -> MatchedIds:
    """Return the ids in the first column of `statement`, ordered by `order`.

    Raises 409 `conflict` with `details.count` if the number of ids differs from `expected_count`,
    or if `expected_count` is None.
    """
    sort_keys = (key.label(f"by_{number}") for number, key in enumerate(order))
    id_column, *sort_columns = statement.add_columns(*sort_keys).subquery().c
    packed = func.string_agg(
        func.uuid_send(id_column),
        aggregate_order_by(literal_column("''::bytea"), *sort_columns, id_column),
    )
    matched_ids = MatchedIds(bytes(db.session().scalar(select(packed)) or b""))
    if len(matched_ids) != expected_count:
        message = (
            f"The number of matching records is {len(matched_ids)}. Check the filter and "
            "`expected_count`."
        )
        raise errors.conflict(message, count=len(matched_ids))
    return matched_ids


def run_in_batches(matched: MatchedIds, action: Callable[[list[UUID]], Failures]) -> dict[str, Any]:
    """Run `action` on the records in batches, one transaction each, and return the result.

    `action` returns an error for each record that failed. The result lists only failed records, at
    most `MAX_OUTCOMES`. If the first batch raises an API or database error, nothing is changed and
    the error is raised. If a later batch raises one, the earlier batches stay committed. The
    records of this batch and of the following batches then count as failed; of these records, the
    result lists only those of this batch.
    """
    failures: dict[UUID, ApiError] = {}
    failed_count = 0
    for number, batch in enumerate(matched.iterate_batches()):
        remaining = len(matched) - number * BATCH_SIZE
        try:
            batch_failures = action(batch)
            db.checkpoint()
        except (ApiError, SQLAlchemyError) as failure:
            if number == 0:
                raise
            db.roll_back()
            log.warning(
                "bulk.interrupted", remaining=remaining, matched=len(matched), error=str(failure)
            )
            failed_count += remaining
            failures.update(dict.fromkeys(batch, _to_api_error(failure)))
            break
        failed_count += len(batch_failures)
        failures.update(batch_failures)
        failures = dict(islice(failures.items(), MAX_OUTCOMES))
    outcomes = [_build_outcome(*item) for item in islice(failures.items(), MAX_OUTCOMES)]
    return _build_summary(len(matched), failed_count, outcomes)


def build_result(ids: Sequence[UUID], failures: Failures) -> dict[str, Any]:
    """Return the result of an action on `ids`. It lists each id once, in the order of `ids`.

    The action succeeded for the ids that are not in `failures`.
    """
    outcomes = [
        _build_outcome(record_id, failures.get(record_id)) for record_id in dict.fromkeys(ids)
    ]
    failed_count = sum(not outcome["ok"] for outcome in outcomes)
    return _build_summary(len(outcomes), failed_count, outcomes)


def build_not_found_errors(ids: Iterable[UUID], found_ids: Iterable[UUID]) -> dict[UUID, ApiError]:
    """Return a 404 `not_found` error for each id in `ids` that is not in `found_ids`."""
    known_ids = set(found_ids)
    return {record_id: errors.not_found() for record_id in ids if record_id not in known_ids}


def _to_api_error(failure: ApiError | SQLAlchemyError) -> ApiError:
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


def _build_summary(
    matched_count: int, failed_count: int, outcomes: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "matched": matched_count,
        "succeeded": matched_count - failed_count,
        "failed": failed_count,
        "outcomes": outcomes,
    }
