"""Bulk actions, as services think of them: one bad record does not undo the others.

By id an action is one transaction. By filter it is one for each thousand records, so that whoever
changes one of them meanwhile waits for a thousand, not for a hundred thousand (decision 0030).
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
"""How many records a transaction changes."""
LISTED = 1000
"""How many outcomes an answer lists."""

log = get_logger(__name__)
Failures = Mapping[UUID, ApiError]
Unfit = Callable[[Sequence[UUID]], Failures]
"""Asked of records once they are locked: which of them are to be left alone, and why."""

_UUID_BYTES = 16


class Found:
    """The ids that a filter found: sixteen bytes each, so that a million are little."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed

    def __len__(self) -> int:
        return len(self._packed) // _UUID_BYTES

    def batches(self) -> Iterator[list[UUID]]:
        """The ids in their order, `BATCH` at a time."""
        size = BATCH * _UUID_BYTES
        for start in range(0, len(self._packed), size):
            some = self._packed[start : start + size]
            yield [
                UUID(bytes=some[at : at + _UUID_BYTES]) for at in range(0, len(some), _UUID_BYTES)
            ]


def find(chosen: Select[Any], *order: ColumnElement[Any], expected: int | None) -> Found:
    """What `chosen` selects, in the order of `order`; its first column is the id.

    Raises 409 `conflict` with `details.count` when that is another number than expected.
    """
    rows = chosen.add_columns(*(by.label(f"by_{n}") for n, by in enumerate(order))).subquery()
    first, *keys = rows.c
    packed = func.string_agg(
        func.uuid_send(first), aggregate_order_by(literal_column("''::bytea"), *keys, first)
    )
    found = Found(bytes(db.session().scalar(select(packed)) or b""))
    if len(found) != expected:
        raise errors.conflict(
            "The filter finds another number of records than expected.", count=len(found)
        )
    return found


def in_batches(found: Found, act: Callable[[list[UUID]], Failures]) -> dict[str, Any]:
    """Let `act` change what was found, a batch in a transaction; the result.

    `act` returns why records failed. Where it raises in the first batch, nothing stands. Later, the
    batches before stand, and all that is left has failed for that reason: the answer tells what was
    done, whatever happens.
    """
    failures: dict[UUID, ApiError] = {}
    failed = 0
    for number, batch in enumerate(found.batches()):
        left = len(found) - number * BATCH
        try:
            why = act(batch)
            db.checkpoint()
        except (ApiError, SQLAlchemyError) as failure:
            if number == 0:
                raise
            db.discard()
            log.warning("bulk.broken_off", left=left, matched=len(found), error=str(failure))
            failed += left
            failures.update(dict.fromkeys(batch, _reason(failure)))
            break
        failed += len(why)
        failures.update(why)
        failures = dict(islice(failures.items(), LISTED))
    return by_filter(len(found), failures, failed=failed)


def by_id(ids: Sequence[UUID], failures: Failures) -> dict[str, Any]:
    """The result of an action on `ids`: each once, in their order, all well but `failures`."""
    outcomes = [_outcome(one, failures.get(one)) for one in dict.fromkeys(ids)]
    failed = sum(not outcome["ok"] for outcome in outcomes)
    return _result(len(outcomes), failed, outcomes)


def by_filter(matched: int, failures: Failures, *, failed: int) -> dict[str, Any]:
    """The result of an action on all that matched a filter; only failures are listed."""
    outcomes = [_outcome(one, failure) for one, failure in islice(failures.items(), LISTED)]
    return _result(matched, failed, outcomes)


def missing(ids: Iterable[UUID], found: Iterable[UUID]) -> dict[UUID, ApiError]:
    """A 404 for each of `ids` that was not found: another organization's is none either."""
    known = set(found)
    return {one: errors.not_found() for one in ids if one not in known}


def _reason(failure: ApiError | SQLAlchemyError) -> ApiError:
    told = failure if isinstance(failure, ApiError) else db_errors.translate(failure)
    if isinstance(told, ApiError):
        return told
    log.error("bulk.failed", exc_info=failure)
    return ApiError("internal_error", "Something went wrong here. It has been logged.")


def _outcome(identifier: UUID, failure: ApiError | None) -> dict[str, Any]:
    return {
        "id": identifier,
        "ok": failure is None,
        "code": failure.code if failure else None,
        "message": failure.message if failure else None,
    }


def _result(matched: int, failed: int, outcomes: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "matched": matched,
        "succeeded": matched - failed,
        "failed": failed,
        "outcomes": outcomes,
    }
