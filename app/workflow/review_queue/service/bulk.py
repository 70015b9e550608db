"""Bulk actions on review items selected by id or by filter."""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict, Unpack
from uuid import UUID

from app.kit import bulk, errors
from app.kit.bulk import Failures, FindUnfit
from app.kit.principal import Caller
from app.workflow.review_queue.queries import reading
from app.workflow.tag_sets import service as tag_sets


class Selection(TypedDict, total=False):
    """The items of a bulk action: either ids, or a filter with the expected number of matches."""

    tag_set_ids: Sequence[UUID]
    filter: dict[str, Any]
    expected_count: int


Action = Callable[[Sequence[UUID], FindUnfit | None], Failures]
"""Function that changes items and returns the errors of items that were not changed."""


def accept_many(
    *, caller: Caller, note: str | None = None, **selection: Unpack[Selection]
) -> dict[str, Any]:
    """Accept items by id or by filter (`apply_to_items`); see `tag_sets.accept_many`."""

    def act(ids: Sequence[UUID], find_unfit: FindUnfit | None) -> Failures:
        return tag_sets.accept_many(ids, caller=caller, note=note, find_unfit=find_unfit)

    return apply_to_items(act, caller=caller, **selection)


def reject_many(
    *, caller: Caller, reason: str, send_to: str, **selection: Unpack[Selection]
) -> dict[str, Any]:
    """Reject items by id or by filter (`apply_to_items`); see `tag_sets.reject_many`."""

    def act(ids: Sequence[UUID], find_unfit: FindUnfit | None) -> Failures:
        return tag_sets.reject_many(
            ids, caller=caller, reason=reason, send_to=send_to, find_unfit=find_unfit
        )

    return apply_to_items(act, caller=caller, **selection)


def apply_to_items(
    act: Action,
    *,
    caller: Caller,
    tag_set_ids: Sequence[UUID] = (),
    filter: dict[str, Any] | None = None,  # noqa: A002 - the name of the request property
    expected_count: int | None = None,
) -> dict[str, Any]:
    """Apply `act` to items selected by id or filter and return the outcomes (`kit.bulk`).

    A filter selects from the caller's queue, in queue order, and each batch of 1,000 items runs in
    its own transaction (`bulk.run_in_batches`). An item that no longer matches when its batch runs
    fails with `conflict`, and a deleted item with `not_found`. Raises 409 `conflict` with
    `details.count` if the filter does not match `expected_count` items.
    """
    if filter is None:
        return bulk.build_result(tag_set_ids, act(tag_set_ids, None))
    matched = reading.find(filter, user_id=caller.user_id, expected=expected_count)

    def find_unfit(ids: Sequence[UUID]) -> Failures:
        matches = reading.match(ids, filter, user_id=caller.user_id)
        error = errors.conflict("The tag set has changed and no longer matches the filter.")
        changed = dict.fromkeys((id_ for id_, is_match in matches.items() if not is_match), error)
        return bulk.find_missing(ids, matches) | changed

    return bulk.run_in_batches(matched, lambda ids: act(ids, find_unfit))
