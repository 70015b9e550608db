"""Acceptance of single tag sets, and the functions that all review decisions share.

The provenance of a merge has one entry for each tag, in the order of the tags. A correction of the
merge updates its provenance.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias
from uuid import UUID

import orjson

from app.engines.agreement.comparing import Change, diff
from app.engines.agreement.places import Shapes
from app.engines.agreement.rows import align_rows
from app.engines.fields import Tag
from app.kit import db, errors, events
from app.kit.errors import ApiError
from app.kit.principal import Caller
from app.workflow.tag_sets import transitions
from app.workflow.tag_sets.queries import deciding, reading, statuses
from app.workflow.tag_sets.queries.bulk import LockedReview
from app.workflow.tag_sets.queries.deciding import LockedTagSet
from app.workflow.tag_sets.queries.reading import TagSetRow
from app.workflow.tag_sets.service import rules
from app.workflow.tag_sets.transitions import Action, TagSetStatus, build_accepted_payload

Entry: TypeAlias = dict[str, Any]
"""A provenance entry: a dict with field, row, value, tag_set_ids, revisions and by.

`revisions` is in the order of `tag_set_ids`. `by` is how the tag was decided."""

REVIEW_RESET: dict[str, Any] = {
    **dict.fromkeys(("claim_user_id", "claim_expires_at", "assignee_id", "assignee_team_id")),
    **dict.fromkeys(("review_due_at", "escalated_by", "escalated_at", "escalation_reason")),
    "escalated": False,
}
"""The initial values of the review columns. Every decision resets these columns."""


def accept(
    tag_set_id: UUID,
    *,
    caller: Caller,
    revision: int | None,
    tags: list[Any] | None = None,
    note: str | None = None,
) -> TagSetRow:
    """Accept a submitted tag set, optionally with the reviewer's corrected `tags`.

    Raises 404; 403 for the caller's own tag set; 400 `validation_error` or
    `required_fields_missing` for invalid corrections; 409 `stale_precondition`; 409 `conflict`. The
    details of a conflict are `state`, the details of `check_review` or `check_sources`, or
    `accepted`: the ids of the accepted tag sets, if the schema requires no more tag sets.
    """
    tag_set, sources = _lock_with_sources(tag_set_id)
    check_decision(Action.ACCEPT, tag_set, caller, revision)
    check_sources(caller, sources)
    _check_no_quorum(tag_set)
    changes = _build_corrections(tag_set, tags, caller)
    mark_accepted(tag_set, changes, reviewer_id=caller.user_id, note=note)
    statuses.update_statuses([tag_set.artifact_id])
    return reading.get(tag_set_id)


def _lock_with_sources(tag_set_id: UUID) -> tuple[LockedTagSet, list[LockedTagSet]]:
    rows = deciding.lock_with_sources(tag_set_id)
    tag_set = errors.require_found(next((row for row in rows if row.id == tag_set_id), None))
    return tag_set, [row for row in rows if row is not tag_set]


def check_sources(caller: Caller, sources: Iterable[LockedTagSet]) -> None:
    """Check that the caller may review the submitted sources of a merge.

    Raises the errors of `check_review`, with the id of the source as `details.tag_set_id`.
    """
    for source in sources:
        if source.status == "submitted":
            try:
                rules.check_review(caller, source)
            except ApiError as failure:
                failure.details = {**(failure.details or {}), "tag_set_id": source.id}
                raise


def _build_corrections(
    tag_set: LockedTagSet, tags: list[Any] | None, caller: Caller
) -> dict[str, Any]:
    """Build the new values of corrected columns, or {}. Raises 400 for invalid corrections."""
    if tags is None:
        return {}
    version_rules = rules.get_version_rules(tag_set.schema_version_id)
    checked = rules.check_tags(version_rules, tags, tag_set, complete=True)
    if not rules.can_keep_sources(checked, caller):
        rules.set_sources(checked, tag_set.tags)
    # Tags of older releases have incomplete evidence. Sending them unchanged is not a correction.
    if tag_set.tags in (checked, tags):
        return {}
    if tag_set.source != "merge":
        return {"tags": checked}
    known = deciding.get_provenance(tag_set.id)
    entries = correct_entries(known, tag_set.tags, checked, version_rules.shapes)
    return {"tags": checked, "provenance": entries}


def find_quorum(tag_set: LockedTagSet) -> list[UUID]:
    """Return the ids of the artifact's accepted tag sets if they reach the quorum, otherwise [].

    The artifact must be locked. One accepted merge is a quorum. If `tag_set` is a merge, only
    accepted merges are considered.
    """
    merge_ids = deciding.list_ids(tag_set.artifact_id, (TagSetStatus.ACCEPTED,), source="merge")
    if merge_ids or tag_set.source == "merge":
        return merge_ids
    accepted_ids = deciding.list_ids(tag_set.artifact_id, (TagSetStatus.ACCEPTED,))
    return accepted_ids if len(accepted_ids) >= tag_set.required_labels else []


def _check_no_quorum(tag_set: LockedTagSet) -> None:
    accepted_ids = find_quorum(tag_set)
    if accepted_ids:
        raise errors.conflict(
            "This artifact already has as many accepted tag sets as its schema requires.",
            accepted=accepted_ids,
            labels_per_artifact=tag_set.required_labels,
        )


def mark_accepted(
    tag_set: LockedTagSet,
    changes: dict[str, Any],
    *,
    reviewer_id: UUID | None,
    note: str | None,
) -> None:
    """Mark a locked tag set as accepted, supersede a merge's sources, and emit `tag_set.accepted`.

    Every acceptance of a single tag set calls this function. `changes` maps corrected columns to
    their new values. If `reviewer_id` is None, the tag set is accepted automatically, and `note` is
    the reason, which is stored only in the revision.
    """
    reason = None if reviewer_id is None else note
    values = build_decision(TagSetStatus.ACCEPTED, reviewer_id, reason=reason, **changes)
    kind = "correction" if changes else "accept"
    deciding.update_tag_sets([tag_set.id], values, kind=kind, author_id=reviewer_id, note=note)
    if tag_set.source == "merge":
        _supersede_sources(tag_set, reviewer_id)
    payload = build_accepted_payload(tag_set, reviewer_id=reviewer_id, corrected=bool(changes))
    events.emit(transitions.ACCEPTED, payload)


def _supersede_sources(merge: LockedTagSet, reviewer_id: UUID | None) -> None:
    source_ids = [UUID(source_id) for source_id in merge.merged_from or ()]
    values = build_decision(TagSetStatus.REJECTED, reviewer_id)
    deciding.supersede(source_ids, merge.id, values, reviewer_id)


def lock(tag_set_id: UUID) -> LockedTagSet:
    """Lock a tag set and its artifact and return the tag set. Raises 404 if it does not exist."""
    return errors.require_found(deciding.lock(tag_set_id))


def check_decision(
    action: Action,
    tag_set: LockedTagSet | LockedReview,
    caller: Caller,
    revision: int | None,
    team_ids: Collection[UUID] | None = None,
) -> None:
    """Check that the caller may decide on the tag set now, and that its revision is `revision`.

    If `revision` is None, the revision is not checked. Raises the errors of `check_reviewer`,
    `check_state` and `check_review`, in this order.
    """
    rules.check_reviewer(caller, tag_set)
    rules.check_state(tag_set, action, revision)
    rules.check_review(caller, tag_set, team_ids=team_ids)


def build_decision(
    status: TagSetStatus, reviewer_id: UUID | None, **values: object
) -> dict[str, Any]:
    """Build the new column values of a decision, which ends the review, and add `values`."""
    decision = {"status": status, "reviewer_id": reviewer_id, "decided_at": db.utc_now()}
    return {**REVIEW_RESET, **decision, **values}


def build_entry(tag: Tag, by: str, origins: Sequence[tuple[str, int]] = ()) -> Entry:
    """Build the provenance entry of a tag; `by` is how the tag was decided.

    `origins` contains the id and the revision of each tag set that has the tag.
    """
    return {
        **{name: tag[name] for name in ("field", "row", "value")},
        "tag_set_ids": [tag_set_id for tag_set_id, _ in origins],
        "revisions": [revision for _, revision in origins],
        "by": by,
    }


def correct_entries(
    entries: Sequence[Entry], before: Sequence[Tag], after: Sequence[Tag], shapes: Shapes
) -> list[Entry]:
    """Return the provenance entries of the tags `after`, a reviewer's correction of `before`.

    Tags that the reviewer kept, even in another row, keep their origin. All other tags get the
    origin `reviewer`. Spans and boxes are compared by location.
    """
    old_tags, new_tags = align_rows([before, after], shapes).sets
    entries_by_key = defaultdict(list)
    for entry in reversed(entries):
        entries_by_key[_build_key(entry)].append(entry)
    # A merge that was corrected in an earlier release may have tags without an entry.
    origins = {
        id(tag): entries_by_key[_build_key(before_tag)].pop()
        for tag, before_tag in zip(old_tags, before, strict=True)
        if entries_by_key.get(_build_key(before_tag))
    }
    positions = {id(tag): position for position, tag in enumerate(new_tags)}
    result = [build_entry(tag, "reviewer") for tag in after]
    for change in diff(old_tags, new_tags, shapes, include_same=True):
        origin = origins.get(id(change["from"]))
        if origin and change["to"] and not _has_new_value(change, shapes):
            position = positions[id(change["to"])]
            result[position] = {**origin, "row": after[position]["row"]}
    return result


def _build_key(tag: Mapping[str, Any]) -> bytes:
    key = [tag[name] for name in ("field", "row", "value")]
    return orjson.dumps(key, option=orjson.OPT_SORT_KEYS)


def _has_new_value(change: Change, shapes: Shapes) -> bool:
    shape = shapes.get(change["field"])
    compared_property = "evidence" if shape is not None and shape.has_marks else "value"
    return not {"value", compared_property}.isdisjoint(change["members"])
