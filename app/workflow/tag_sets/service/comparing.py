"""Comparison of tag sets with each other, with revisions, and with the prediction."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from app.documents.artifacts.service import reading as artifacts
from app.engines.agreement.boxes import Budget
from app.engines.agreement.comparing import Change, diff_by_content
from app.engines.agreement.measures import MAX_MATCHED_MARKS, measure_agreement
from app.engines.agreement.rows import RowAlignment, align_rows, get_table_key
from app.engines.agreement.tag_keys import FieldSpecs, TagKey
from app.engines.agreement.votes import VoteResult, find_majority
from app.kit import errors
from app.kit.pagination import Page, PageRequest
from app.kit.principal import Caller
from app.workflow.tag_sets.queries import related, revisions
from app.workflow.tag_sets.queries.reading import MAX_PAGE_BYTES, TagSetRow
from app.workflow.tag_sets.queries.related import ComparedTagSet
from app.workflow.tag_sets.service import reading, rules
from app.workflow.tag_sets.transitions import COMPLETED, DEPENDENT_SOURCES, TagSetStatus


class _ComparisonSide(NamedTuple):
    """The tag set, revision or prediction on one side of a comparison."""

    kind: str
    tag_set_id: UUID | None
    revision: int | None
    tags: list[Any]
    prediction_id: UUID | None = None


def list_revisions(
    tag_set_id: UUID, *, caller: Caller, page: PageRequest, **created: datetime
) -> Page:
    """List a tag set's revisions, each with the changes since the previous revision.

    `created` accepts the filters created_after and created_before. `changes` is None if the tags of
    either revision exceed 8 MiB divided by the page size. If there are more changes than fit into
    that size, or more than 500, only the first changes are listed. Raises 404 like `reading.get`.
    """
    tag_set = reading.get(tag_set_id, caller=caller)
    revisions_page = revisions.get_page(page, tag_set_id, **created)
    max_bytes = MAX_PAGE_BYTES // page.page_size
    numbers = [row.number for row in revisions_page.items]
    compared_numbers = {*numbers, *(number - 1 for number in numbers)}
    tags = revisions.get_tags(tag_set_id, sorted(compared_numbers), max_bytes=max_bytes)
    tags[0] = []  # The first revision is compared with an empty tag set.
    field_specs = rules.get_version_rules(tag_set.schema_version_id).field_specs

    def compare_revision(number: int) -> dict[str, Any] | None:
        if number not in tags or number - 1 not in tags:
            return None
        difference = diff_by_content(tags[number - 1], tags[number], field_specs)
        return summarize_changes(difference.changes, moved=difference.moved, max_bytes=max_bytes)

    items = [
        {**row._asdict(), "changes": compare_revision(row.number)} for row in revisions_page.items
    ]
    return replace(revisions_page, items=items)


def compare(
    tag_set_id: UUID,
    *,
    caller: Caller,
    against: UUID | None = None,
    revision: int | None = None,
    prediction: bool = False,
    at_revision: int | None = None,
) -> dict[str, Any]:
    """Compare a tag set with another tag set, one of its revisions, or the latest prediction.

    Exactly one of `against` (a tag set of the same artifact), `revision` and `prediction` must be
    set. The tag set is compared in its current state or, if `at_revision` is set, as of that
    revision. Raises 404 like `reading.get`; 400 for a missing tag set, revision or prediction.
    """
    tag_set = reading.get(tag_set_id, caller=caller)
    if [against is not None, revision is not None, prediction].count(True) != 1:
        message = "Send exactly one of `against`, `revision` and `prediction`."
        raise errors.invalid(message, "against")
    if against is not None:
        other_side = _get_tag_set_side(tag_set, against, caller)
    elif revision is not None:
        other_side = _get_revision_side(tag_set_id, revision, "revision")
    else:
        other_side = _get_prediction_side(tag_set, caller)
    this_side = _ComparisonSide("tag_set", tag_set_id, tag_set.revision, tag_set.tags)
    if at_revision is not None:
        this_side = _get_revision_side(tag_set_id, at_revision, "at_revision")
    field_specs = rules.get_version_rules(tag_set.schema_version_id).field_specs
    difference = diff_by_content(other_side.tags, this_side.tags, field_specs)
    counts = summarize_changes(difference.changes, max_entries=0)
    return {
        "tag_set_id": tag_set_id,
        "revision": this_side.revision,
        "against": other_side._asdict(),
        **{kind: counts[kind] for kind in ("added", "removed", "changed")},
        "changes": difference.changes,
        "moved": difference.moved,
    }


def _get_tag_set_side(tag_set: TagSetRow, tag_set_id: UUID, caller: Caller) -> _ComparisonSide:
    row = reading.find(tag_set_id, caller=caller)
    if row is None or row.artifact_id != tag_set.artifact_id:
        raise errors.invalid("Must be the id of a tag set for this artifact.", "against")
    return _ComparisonSide("tag_set", row.id, row.revision, row.tags)


def _get_revision_side(tag_set_id: UUID, number: int, parameter: str) -> _ComparisonSide:
    tags = revisions.get_tags(tag_set_id, (number,)).get(number)
    if tags is None:
        raise errors.invalid("This tag set has no revision with this number.", parameter)
    return _ComparisonSide("revision", tag_set_id, number, tags)


def _get_prediction_side(tag_set: TagSetRow, caller: Caller) -> _ComparisonSide:
    row = reading.find_latest_prediction(tag_set.artifact_id, caller=caller)
    if row is None:
        raise errors.invalid("This artifact has no prediction.", "prediction")
    return _ComparisonSide("prediction", None, None, row.tags, row.id)


def get_consensus(artifact_id: UUID) -> dict[str, Any]:
    """Return an artifact's tag sets side by side: values, majority, and agreement.

    Independent tag sets are counted if they are submitted, accepted, or superseded by a merge.
    Other rejected tag sets, merges, tag sets by models and tag sets with an earlier schema are
    listed but not counted. For a gold artifact, each tag set is also compared with the accepted
    merge, or else with the oldest accepted tag set. An agreement is None if there are too many
    spans or boxes to match in one request. `fields` lists as many fields as fit into 8 MiB;
    `truncated` is true if fields were omitted. Raises 404 if the artifact does not exist.
    """
    artifact = artifacts.get(artifact_id)
    rows = related.list_by_artifact(artifact_id)
    # Versions of different schemas cannot be compared, because their fields differ.
    comparable_rows = [row for row in rows if row.schema_id == artifact.schema_id]
    counted_rows = [row for row in comparable_rows if _is_counted(row)]
    newest = max(comparable_rows, key=lambda row: row.version, default=None)
    version_rules = None if newest is None else rules.get_version_rules(newest.schema_version_id)
    field_specs = {} if version_rules is None else version_rules.field_specs
    alignment = align_rows([row.tags for row in counted_rows], field_specs)
    budget = Budget(MAX_MATCHED_MARKS)
    result = measure_agreement(alignment.tag_sets, field_specs, budget)
    ids = [row.id for row in counted_rows]
    vote_results = find_majority(alignment.tag_sets, field_specs)
    agreement_by_key = {} if result is None else result.tag_keys
    fields = _render_fields(vote_results, ids, alignment, agreement_by_key)
    gold_tag_set = _find_gold_tag_set(comparable_rows) if artifact.gold else None
    return {
        "artifact_id": artifact_id,
        "labels_per_artifact": newest.required_labels if newest is not None else None,
        "agreement": result.overall if result is not None else None,
        "sets": [
            row._asdict()
            | {"tag_set_id": row.id, "counted": row.id in ids}
            | {"gold_agreement": _measure_gold_agreement(row, gold_tag_set, field_specs, budget)}
            for row in rows
        ],
        "fields": fields,
        "truncated": len(fields) < len(vote_results),
    }


def _render_fields(
    vote_results: Sequence[VoteResult],
    ids: Sequence[UUID],
    alignment: RowAlignment,
    agreement_by_key: dict[TagKey, float],
) -> list[dict[str, Any]]:
    rendered_vote_results = (
        {
            **render_vote_result(vote_result, ids, alignment),
            "agreement": agreement_by_key.get((vote_result.field, vote_result.row)),
        }
        for vote_result in vote_results
    )
    return limit_size(rendered_vote_results, max_bytes=MAX_PAGE_BYTES)


def render_vote_result(
    vote_result: VoteResult, tag_set_ids: Sequence[UUID], alignment: RowAlignment
) -> dict[str, Any]:
    """Render a `VoteResult` (the votes for one field and row) as a dict for the API response.

    `rows` contains the number of the row in each tag set that has the row.
    """
    row_numbers = (
        ()
        if vote_result.row is None
        else alignment.rows[get_table_key(vote_result.field), vote_result.row]
    )
    return {
        "field": vote_result.field,
        "row": vote_result.row,
        "rows": [
            {"tag_set_id": tag_set_id, "row": row}
            for tag_set_id, row in zip(tag_set_ids, row_numbers, strict=False)
            if row is not None
        ],
        "values": [
            {
                "value": choice.tag["value"],
                "evidence": choice.tag["evidence"],
                "tag_set_ids": [tag_set_ids[voter] for voter in choice.voters],
            }
            for choice in vote_result.choices
        ],
        "majority": [choice.tag["value"] for choice in vote_result.winners],
        "tie": vote_result.tie,
    }


def _is_counted(row: ComparedTagSet) -> bool:
    is_complete = row.status in COMPLETED or row.superseded_by is not None
    return is_complete and row.source not in DEPENDENT_SOURCES


def _find_gold_tag_set(rows: Sequence[ComparedTagSet]) -> ComparedTagSet | None:
    accepted_rows = [row for row in rows if row.status == TagSetStatus.ACCEPTED]
    return min(accepted_rows, key=lambda row: (row.source != "merge", row.id), default=None)


def _measure_gold_agreement(
    row: ComparedTagSet,
    gold_tag_set: ComparedTagSet | None,
    field_specs: FieldSpecs,
    budget: Budget,
) -> float | None:
    if gold_tag_set is None or row.id == gold_tag_set.id or row.schema_id != gold_tag_set.schema_id:
        return None
    alignment = align_rows([gold_tag_set.tags, row.tags], field_specs)
    result = measure_agreement(alignment.tag_sets, field_specs, budget)
    return result.overall if result is not None else None


MAX_LISTED_CHANGES = 500
"""The maximum number of changes, and of ranges of moved rows, that a summary lists."""
MAX_LISTED_BYTES = 1024 * 1024
"""The maximum size in bytes, as JSON, of listed changes, or of undecided fields in an error."""


def limit_size(items: Iterable[dict[str, Any]], *, max_bytes: int) -> list[dict[str, Any]]:
    """Return as many of the first items as fit into `max_bytes` when they are encoded as JSON."""
    fitting_items = []
    remaining_bytes = max_bytes
    for item in items:
        remaining_bytes -= len(orjson.dumps(item))
        if remaining_bytes < 0:
            break
        fitting_items.append(item)
    return fitting_items


def summarize_changes(
    changes: Sequence[Change],
    *,
    moved: Sequence[dict[str, Any]] = (),
    max_entries: int = MAX_LISTED_CHANGES,
    max_bytes: int = MAX_LISTED_BYTES,
) -> dict[str, Any]:
    """Summarize changes: the number of each type, the first changes, and the moved rows.

    The result has the numbers `added`, `removed` and `changed`; the first changes as `entries`, at
    most `max_entries` and `max_bytes`; the first `max_entries` ranges of moved rows as `moved`; and
    `truncated`, which is true if changes or ranges were omitted.
    """
    entries = limit_size(changes[:max_entries], max_bytes=max_bytes)
    kinds = [change["kind"] for change in changes]
    counts = {kind: kinds.count(kind) for kind in ("added", "removed", "changed")}
    truncated = len(entries) < len(changes) or len(moved) > max_entries
    return {
        **counts,
        "entries": entries,
        "moved": list(moved[:max_entries]),
        "truncated": truncated,
    }
