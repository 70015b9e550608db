"""Bulk actions, as services think of them: one bad record does not undo the others."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from app.kit import errors
from app.kit.errors import ApiError


def by_id(ids: Sequence[UUID], failures: Mapping[UUID, ApiError]) -> dict[str, Any]:
    """The result of an action on `ids`: each once, in their order, all well but `failures`."""
    outcomes = [_outcome(one, failures.get(one)) for one in dict.fromkeys(ids)]
    failed = sum(not outcome["ok"] for outcome in outcomes)
    return _result(len(outcomes), failed, outcomes)


def by_filter(matched: int, failures: Mapping[UUID, ApiError]) -> dict[str, Any]:
    """The result of an action on all that matched a filter; only failures are listed."""
    outcomes = [_outcome(one, failure) for one, failure in failures.items()]
    return _result(matched, len(failures), outcomes[:1000])


def missing(ids: Iterable[UUID], found: Iterable[UUID]) -> dict[UUID, ApiError]:
    """A 404 for each of `ids` that was not found: another organization's is none either."""
    known = set(found)
    return {one: errors.not_found() for one in ids if one not in known}


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
