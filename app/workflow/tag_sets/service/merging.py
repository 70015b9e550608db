"""Merge several tag sets of an artifact into one tag set."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from app.documents.artifacts.service import reading as artifacts
from app.engines.agreement.rows import RowAlignment, align_rows, get_table_key, number_rows
from app.engines.agreement.tag_keys import TagKey, group_by_tag_key
from app.engines.agreement.votes import VoteResult, find_majority
from app.kit import db, errors, events
from app.kit.principal import Caller
from app.workflow.tag_sets import emitted_events
from app.workflow.tag_sets.emitted_events import MergedPayload, build_payload
from app.workflow.tag_sets.queries import deciding, drafts, locking, reading, related, statuses
from app.workflow.tag_sets.queries.locking import LockedTagSet
from app.workflow.tag_sets.queries.reading import TagSetRow
from app.workflow.tag_sets.service import decisions, provenance, rules
from app.workflow.tag_sets.service.comparing import MAX_LISTED_BYTES, limit_size, render_vote_result
from app.workflow.tag_sets.transitions import COMPLETED, TagSetStatus

MAX_UNDECIDED_FIELDS = 100
"""The maximum number of undecided fields that the error of a merge lists."""
_TagsByKey: TypeAlias = dict[UUID, dict[TagKey, list[Any]]]
"""The tags of each tag set by tag key (field and row), in the order of the request.

Matching rows have the same number in all tag sets."""


class _MergedTags(NamedTuple):
    """The tags of a merge.

    `origins` has an entry for each tag: how the tag was decided, and the ids of the tag sets that
    contain the tag.
    """

    tags: list[dict[str, Any]]
    origins: list[tuple[str, list[UUID]]]

    def add(self, tag: dict[str, Any], tag_set_ids: list[UUID], by: str) -> None:
        """Add a tag, the ids of the tag sets that contain it, and how it was decided (`by`)."""
        self.tags.append(tag)
        self.origins.append((by, tag_set_ids))

    def remove_empty_rows(self, alignment: RowAlignment) -> "_MergedTags":
        """Return the same tags with new row numbers: the rows below an empty row move up."""
        rows_by_table: dict[str, set[int]] = {}
        for tag in self.tags:
            if tag["row"] is not None:
                rows_by_table.setdefault(get_table_key(tag["field"]), set()).add(tag["row"])
        new_numbers = {
            (table, row): number
            for table, rows in rows_by_table.items()
            for row, number in _renumber_rows(table, sorted(rows), alignment)
        }

        def renumber(tag: dict[str, Any]) -> dict[str, Any]:
            return {**tag, "row": new_numbers.get((get_table_key(tag["field"]), tag["row"]))}

        return _MergedTags(list(map(renumber, self.tags)), self.origins)

    def build_provenance(
        self, tags: Sequence[dict[str, Any]], sources: Sequence[LockedTagSet]
    ) -> list[provenance.Entry]:
        """Build a provenance entry for each tag; `tags` are the merged tags in canonical form."""
        revisions = {source.id: source.revision for source in sources}
        return [
            provenance.build_entry(
                tag, by, [(str(source_id), revisions[source_id]) for source_id in ids]
            )
            for tag, (by, ids) in zip(tags, self.origins, strict=True)
        ]


def _renumber_rows(
    table: str, rows: list[int], alignment: RowAlignment
) -> Iterator[tuple[int, int]]:
    # A row that exists only in the reviewer's tags keeps its number.
    aligned_rows = [alignment.rows.get((table, row), (row,)) for row in rows]
    return zip(rows, number_rows(aligned_rows), strict=True)


def merge(
    *,
    caller: Caller,
    tag_set_ids: list[UUID],
    strategy: str,
    choices: Sequence[dict[str, Any]] = (),
    tags: Sequence[Any] = (),
    accept: bool = False,
    note: str | None = None,
) -> TagSetRow:
    """Merge 2 to 20 tag sets of an artifact into one and emit `tag_set.merged`.

    The merge has no labeler, and records the source tag sets of each value. It is pending review
    or, if `accept` is set, accepted. Its schema version is the newest of the sources' versions.

    Fields and table cells without an entry in the reviewer's `tags` or in `choices` are decided by
    `strategy`: `majority` takes the values that more than half of the tag sets have; `choose` takes
    only values that all tag sets have. Rows have the same numbers as in `get_consensus`.

    Raises 400 for undecided fields (`details.undecided`), an invalid argument or tag, and fields in
    both `tags` and `choices`; 403 for the caller's own tag set; 409 `conflict` with `details.state`
    for a draft, `details.tag_set_id` for an existing merge, or the details of `check_sources`.
    """
    artifact_id = _get_common_artifact_id(tag_set_ids)
    sources = _lock_sources(artifact_id, tag_set_ids, caller)
    newest_source = max(sources, key=lambda source: source.version)
    version_rules = rules.get_version_rules(newest_source.schema_version_id)
    reviewer_tags = _check_reviewer_tags(version_rules, tags, newest_source, sources, caller)
    alignment = align_rows([source.tags for source in sources], version_rules.field_specs)
    tags_by_key = {
        source.id: group_by_tag_key(tags)
        for source, tags in zip(sources, alignment.tag_sets, strict=True)
    }
    chosen_ids = _index_choices(choices, tags_by_key, reviewer_tags)
    merged = _merge_tags(alignment, version_rules, strategy, tags_by_key, chosen_ids, reviewer_tags)
    merge_id = _insert_merge(newest_source, sources, version_rules, merged, caller, note)
    if accept:
        _accept_merge(merge_id, sources, caller, note)
    statuses.update_statuses([artifact_id])
    return reading.get(merge_id)


def _check_reviewer_tags(
    version_rules: rules.VersionRules,
    tags: Sequence[Any],
    newest_source: LockedTagSet,
    sources: Sequence[LockedTagSet],
    caller: Caller,
) -> list[Any]:
    """Check the reviewer's own tags and return them in canonical form.

    Only tags that are unchanged from a source tag set keep a source other than `human`, unless the
    caller may set any source.
    """
    checked_tags = rules.check_tags(version_rules, list(tags), newest_source)
    if not provenance.can_keep_sources(checked_tags, caller):
        provenance.set_sources(checked_tags, [tag for source in sources for tag in source.tags])
    return checked_tags


def _accept_merge(
    merge_id: UUID, sources: Sequence[LockedTagSet], caller: Caller, note: str | None
) -> None:
    decisions.check_sources(caller, sources)
    tag_set = decisions.lock(merge_id)
    decisions.mark_accepted(tag_set, {}, reviewer_id=caller.user_id, note=note)


def _insert_merge(
    newest_source: LockedTagSet,
    sources: Sequence[LockedTagSet],
    version_rules: rules.VersionRules,
    merged_tags: _MergedTags,
    caller: Caller,
    note: str | None,
) -> UUID:
    checked_tags = rules.check_tags(
        version_rules, merged_tags.tags, newest_source, field="tag_set_ids", complete=True
    )
    now = db.utc_now()
    ids = [source.id for source in sources]
    values = {
        "artifact_id": newest_source.artifact_id,
        "schema_id": newest_source.schema_id,
        "schema_version_id": newest_source.schema_version_id,
        "labeler_id": None,
        "source": "merge",
        "status": TagSetStatus.SUBMITTED,
        "submitted_at": now,
        "tags": checked_tags,
        "merged_from": [str(source_id) for source_id in ids],
        "provenance": merged_tags.build_provenance(checked_tags, sources),
    }
    tag_set = drafts.insert_tag_set(values, author_id=caller.user_id, kind="merge", note=note)
    payload: MergedPayload = {
        **build_payload(tag_set),
        "merged_from": ids,
        "author_id": caller.user_id,
    }
    events.emit(emitted_events.MERGED, payload)
    return tag_set.id


def _get_common_artifact_id(tag_set_ids: list[UUID]) -> UUID:
    artifact_ids = related.get_artifact_ids(tag_set_ids)
    for position, tag_set_id in enumerate(tag_set_ids):
        # Tag sets of another organization are not found.
        artifact_id = artifact_ids.get(tag_set_id)
        if artifact_id is None or artifact_id != artifact_ids.get(tag_set_ids[0]):
            message = "All tag sets must belong to the same artifact."
            raise errors.invalid(message, f"tag_set_ids.{position}")
        if tag_set_id in tag_set_ids[:position]:
            raise errors.invalid("Each id must occur only once.", f"tag_set_ids.{position}")
    return artifact_ids[tag_set_ids[0]]


def _lock_sources(artifact_id: UUID, tag_set_ids: list[UUID], caller: Caller) -> list[LockedTagSet]:
    """Lock the tag sets and return them in the order of `tag_set_ids`.

    Raises 400, 403 or 409 if a tag set cannot be merged, or 409 if the artifact has a submitted or
    accepted merge.
    """
    artifacts.lock(artifact_id)
    tag_sets = {row.id: row for row in locking.lock_by_artifact(artifact_id)}
    sources = []
    for position, tag_set_id in enumerate(tag_set_ids):
        tag_set = tag_sets.get(tag_set_id)
        if tag_set is None:
            raise errors.conflict(
                "A draft cannot be merged; submit it first.", state="draft", tag_set_id=tag_set_id
            )
        if tag_set.source == "merge":
            raise errors.invalid("A merge cannot be merged again.", f"tag_set_ids.{position}")
        rules.check_reviewer(caller, tag_set)
        sources.append(tag_set)
    for merge_id in deciding.list_ids(artifact_id, COMPLETED, source="merge"):
        raise errors.conflict("This artifact already has a merge.", tag_set_id=merge_id)
    if any(source.schema_id != source.artifact_schema_id for source in sources):
        raise errors.invalid("All tag sets must have the artifact's current schema.", "tag_set_ids")
    return sources


def _index_choices(
    choices: Sequence[dict[str, Any]], tags_by_key: _TagsByKey, reviewer_tags: list[dict[str, Any]]
) -> dict[TagKey, UUID]:
    """Return {tag key: id of the chosen tag set}. Raises 400 for an invalid choice."""
    all_keys = {tag_key for tags in tags_by_key.values() for tag_key in tags}
    reviewer_keys = group_by_tag_key(reviewer_tags)
    chosen_ids: dict[TagKey, UUID] = {}
    for position, choice in enumerate(choices):
        tag_key = (choice["field"], choice["row"])
        path = f"choices.{position}"
        if choice["tag_set_id"] not in tags_by_key:
            raise errors.invalid("Must be one of `tag_set_ids`.", f"{path}.tag_set_id")
        if tag_key not in all_keys:
            raise errors.invalid(
                "None of the tag sets has a value for this field and row.", f"{path}.field"
            )
        if tag_key in chosen_ids or tag_key in reviewer_keys:
            message = "`tags` or another choice already decides this field and row; remove one."
            raise errors.invalid(message, f"{path}.field")
        chosen_ids[tag_key] = choice["tag_set_id"]
    return chosen_ids


def _merge_tags(
    alignment: RowAlignment,
    version_rules: rules.VersionRules,
    strategy: str,
    tags_by_key: _TagsByKey,
    chosen_ids: dict[TagKey, UUID],
    reviewer_tags: list[dict[str, Any]],
) -> _MergedTags:
    ids = list(tags_by_key)
    reviewer_keys = group_by_tag_key(reviewer_tags)
    merged_tags = _MergedTags([], [])
    undecided_vote_results: list[VoteResult] = []
    for vote_result in find_majority(alignment.tag_sets, version_rules.field_specs):
        tag_key = (vote_result.field, vote_result.row)
        if tag_key in reviewer_keys:
            continue
        if tag_key in chosen_ids:
            chosen_id = chosen_ids[tag_key]
            for tag in tags_by_key[chosen_id].get(tag_key, ()):
                merged_tags.add(tag, [chosen_id], "choice")
        elif vote_result.unanimous or (strategy == "majority" and not vote_result.tie):
            for winner in vote_result.winners:
                by = "agreement" if len(winner.voters) == len(ids) else "majority"
                merged_tags.add(winner.tag, [ids[voter] for voter in winner.voters], by)
        else:
            undecided_vote_results.append(vote_result)
    if undecided_vote_results:
        raise _build_undecided_error(undecided_vote_results, ids, alignment)
    for tag in reviewer_tags:
        merged_tags.add(tag, [], "reviewer")
    return merged_tags.remove_empty_rows(alignment)


def _build_undecided_error(
    vote_results: list[VoteResult], ids: list[UUID], alignment: RowAlignment
) -> errors.ApiError:
    rendered_vote_results = [
        render_vote_result(vote_result, ids, alignment)
        for vote_result in vote_results[:MAX_UNDECIDED_FIELDS]
    ]
    complete_vote_results = limit_size(rendered_vote_results, max_bytes=MAX_LISTED_BYTES)
    shortened_vote_results = [
        {**vote_result, "values": [], "majority": []}
        for vote_result in rendered_vote_results[len(complete_vote_results) :]
    ]
    return errors.invalid(
        "The tag sets disagree. Send a choice or a tag for each field in `details.undecided`.",
        "choices",
        undecided=[*complete_vote_results, *shortened_vote_results],
        truncated=len(complete_vote_results) < len(vote_results),
    )
