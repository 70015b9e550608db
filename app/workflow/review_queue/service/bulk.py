"""Bulk actions on review items selected by id or by filter."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypedDict, Unpack
from uuid import UUID

from app.kit import bulk, errors
from app.kit.bulk import Failures, FindFailures
from app.kit.principal import Caller
from app.workflow.review_queue.queries import reading
from app.workflow.tag_sets.service import bulk as tag_sets


class ItemSelection(TypedDict, total=False):
    """The items of a bulk action: either ids, or a filter and the expected number of matches."""

    tag_set_ids: Sequence[UUID]
    filter: dict[str, Any]
    expected_count: int


BulkAction = Callable[[Sequence[UUID], FindFailures | None], Failures]
"""A function that changes items, and returns an error for each item that was not changed."""


def accept_many(
    *, caller: Caller, note: str | None = None, **selection: Unpack[ItemSelection]
) -> dict[str, Any]:
    """Accept the selected items, and return the outcomes (`kit.bulk`).

    A failed item has an error of `tag_sets.accept_many`. Raises 409 like `apply_to_items`.
    """
    action = partial(tag_sets.accept_many, caller=caller, note=note)
    return apply_to_items(action, caller=caller, **selection)


def reject_many(
    *, caller: Caller, reason: str, send_to: str, **selection: Unpack[ItemSelection]
) -> dict[str, Any]:
    """Reject the selected items, and return the outcomes (`kit.bulk`).

    A failed item has an error of `tag_sets.reject_many`. Raises 409 like `apply_to_items`.
    """
    action = partial(tag_sets.reject_many, caller=caller, reason=reason, send_to=send_to)
    return apply_to_items(action, caller=caller, **selection)


def apply_to_items(
    action: BulkAction,
    *,
    caller: Caller,
    tag_set_ids: Sequence[UUID] = (),
    filter: dict[str, Any] | None = None,  # noqa: A002 - the name of the request property
    expected_count: int | None = None,
) -> dict[str, Any]:
    """Apply `action` to items selected by id or by filter, and return the outcomes (`kit.bulk`).

    A filter selects items in queue order, and each batch of 1,000 items runs in a separate
    transaction (`bulk.run_in_batches`). If an item no longer matches the filter when its batch
    runs, the outcome is `conflict`; if the item was deleted, it is `not_found`. Raises 409
    `conflict` with `details.count` if the filter does not match `expected_count` items.
    """
    if filter is None:
        return bulk.build_result(tag_set_ids, action(tag_set_ids, None))
    matched_ids = reading.find_item_ids(filter, user_id=caller.user_id, expected=expected_count)

    def find_failures(ids: Sequence[UUID]) -> Failures:
        unmatched_ids = reading.list_unmatched_ids(ids, filter, user_id=caller.user_id)
        error = errors.conflict("The tag set has changed and no longer matches the filter.")
        return dict.fromkeys(unmatched_ids, error)

    return bulk.run_in_batches(matched_ids, lambda ids: action(ids, find_failures))
