"""Merge several tag sets of an artifact into one tag set."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from app.documents.artifacts import service as artifacts
from app.engines.agreement import (
    Ballot,
    Lineup,
    Place,
    align_rows,
    find_majority,
    get_table,
    group_by_place,
    number_rows,
)
from app.kit import db, errors, events
from app.kit.principal import Caller
from app.workflow.tag_sets import emitted_events
from app.workflow.tag_sets.emitted_events import MergedPayload, build_payload
from app.workflow.tag_sets.queries import deciding, reading, related, statuses
from app.workflow.tag_sets.queries.deciding import LockedTagSet
from app.workflow.tag_sets.queries.reading import TagSetRow
from app.workflow.tag_sets.service import decisions, provenance, rules
from app.workflow.tag_sets.service.comparing import MAX_BYTES, limit_size, render_ballot
from app.workflow.tag_sets.transitions import COMPLETED, TagSetStatus

MAX_UNDECIDED_FIELDS = 100
_Cells: TypeAlias = dict[UUID, dict[Place, list[Any]]]
"""{tag_set_id: {place: tags}}, in the order of the request, with matching row numbers."""


class _Merged(NamedTuple):
    """The tags of a merge; `origins` has (how it was decided, ids of its tag sets) for each tag."""

    tags: list[dict[str, Any]]
    origins: list[tuple[str, list[UUID]]]

    def add(self, tag: dict[str, Any], tag_set_ids: list[UUID], by: str) -> None:
        """Add a tag with the tag sets that contain it; `by` is how it was decided."""
        self.tags.append(tag)
        self.origins.append((by, tag_set_ids))

    def remove_empty_rows(self, lineup: Lineup) -> "_Merged":
        """Return the same tags without empty rows; the rows below an empty row move up."""
        rows_by_table: dict[str, set[int]] = {}
        for tag in self.tags:
            if tag["row"] is not None:
                rows_by_table.setdefault(get_table(tag["field"]), set()).add(tag["row"])
        moved = {
            (table, row): number
            for table, rows in rows_by_table.items()
            for row, number in _renumber_rows(table, sorted(rows), lineup)
        }

        def renumber(tag: dict[str, Any]) -> dict[str, Any]:
            return {**tag, "row": moved.get((get_table(tag["field"]), tag["row"]))}

        return _Merged(list(map(renumber, self.tags)), self.origins)

    def build_provenance(
        self, tags: Sequence[dict[str, Any]], sources: Sequence[LockedTagSet]
    ) -> list[provenance.Entry]:
        """Return the provenance; `tags` are the merge's tags in canonical form."""
        revisions = {source.id: source.revision for source in sources}
        return [
            provenance.build_entry(
                tag, by, [(str(source_id), revisions[source_id]) for source_id in ids]
            )
            for tag, (by, ids) in zip(tags, self.origins, strict=True)
        ]


def _renumber_rows(table: str, rows: list[int], lineup: Lineup) -> Iterator[tuple[int, int]]:
    # A row that only the reviewer's tags have keeps its number.
    lines = [lineup.rows.get((table, row), (row,)) for row in rows]
    return zip(rows, number_rows(lines), strict=True)


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
    or, with `accept`, accepted. Its schema version is the newest of the sources' versions.

    A place is a field; in a table, a field and a row. Its tags come from the first of: the
    reviewer's own `tags`; the chosen tag set; with `majority`, more than half of the tag sets; with
    `choose`, all tag sets. Rows are numbered as in the consensus; empty rows are removed.

    Raises 400 on `choices` with `details.undecided` if a place is undecided; 400 on an invalid
    argument or tag, or `required_fields_missing`; 403 if a source is the caller's own; 409
    `conflict` with `details.state` for a draft, with `details.tag_set_id` of a completed merge, or
    with the details of `check_sources`.
    """
    artifact_id = _get_artifact_id(tag_set_ids)
    sources = _lock_sources(artifact_id, tag_set_ids, caller)
    newest = max(sources, key=lambda source: source.version)
    terms = rules.get_terms(newest.schema_version_id)
    reviewer_tags = _check_reviewer_tags(terms, tags, newest, sources, caller)
    lineup = align_rows([source.tags for source in sources], terms.shapes)
    cells = {
        source.id: group_by_place(tags) for source, tags in zip(sources, lineup.sets, strict=True)
    }
    chosen = _index_choices(choices, cells, reviewer_tags)
    merged = _adjudicate(lineup, terms, strategy, cells, chosen, reviewer_tags)
    merge_id = _insert_merge(newest, sources, terms, merged, caller, note)
    if accept:
        _accept_merge(merge_id, sources, caller, note)
    statuses.update_statuses([artifact_id])
    return reading.get_existing(merge_id)


def _check_reviewer_tags(
    terms: rules.Terms,
    tags: Sequence[Any],
    newest: LockedTagSet,
    sources: Sequence[LockedTagSet],
    caller: Caller,
) -> list[Any]:
    """Return the reviewer's own tags in canonical form and with their true sources."""
    checked = rules.check_tags(terms, list(tags), newest)
    if not provenance.can_keep_sources(checked, caller):
        provenance.set_sources(checked, [tag for source in sources for tag in source.tags])
    return checked


def _accept_merge(
    merge_id: UUID, sources: Sequence[LockedTagSet], caller: Caller, note: str | None
) -> None:
    decisions.check_sources(caller, sources)
    tag_set = decisions.lock(merge_id)
    decisions.mark_accepted(tag_set, {}, reviewer_id=caller.user_id, kind="accept", note=note)


def _insert_merge(
    newest: LockedTagSet,
    sources: Sequence[LockedTagSet],
    terms: rules.Terms,
    merged: _Merged,
    caller: Caller,
    note: str | None,
) -> UUID:
    checked = rules.check_tags(terms, merged.tags, newest, field="tag_set_ids", complete=True)
    now = db.utc_now()
    ids = [source.id for source in sources]
    values = {
        "artifact_id": newest.artifact_id,
        "schema_id": newest.schema_id,
        "schema_version_id": newest.schema_version_id,
        "labeler_id": None,
        "source": "merge",
        "status": TagSetStatus.SUBMITTED,
        "submitted_at": now,
        "tags": checked,
        "merged_from": [str(source_id) for source_id in ids],
        "provenance": merged.build_provenance(checked, sources),
    }
    tag_set = deciding.insert_tag_set(values, author_id=caller.user_id, kind="merge", note=note)
    payload: MergedPayload = {
        **build_payload(tag_set),
        "merged_from": ids,
        "author_id": caller.user_id,
    }
    events.emit(emitted_events.MERGED, payload)
    return tag_set.id


def _get_artifact_id(tag_set_ids: list[UUID]) -> UUID:
    artifact_ids = related.get_artifact_ids(tag_set_ids)
    for position, tag_set_id in enumerate(tag_set_ids):
        # Tag sets of another organization are not found.
        artifact_id = artifact_ids.get(tag_set_id)
        if artifact_id is None or artifact_id != artifact_ids.get(tag_set_ids[0]):
            message = "Must be tag sets of one artifact."
            raise errors.invalid(message, f"tag_set_ids.{position}")
        if tag_set_id in tag_set_ids[:position]:
            raise errors.invalid("Must not be repeated.", f"tag_set_ids.{position}")
    return artifact_ids[tag_set_ids[0]]


def _lock_sources(artifact_id: UUID, tag_set_ids: list[UUID], caller: Caller) -> list[LockedTagSet]:
    """Lock the tag sets and return them in the given order. Raises the errors of `merge`."""
    artifacts.lock(artifact_id)
    tag_sets = {row.id: row for row in deciding.lock_document(artifact_id)}
    sources = []
    for position, tag_set_id in enumerate(tag_set_ids):
        tag_set = tag_sets.get(tag_set_id)
        if tag_set is None:
            raise errors.conflict(
                "A draft cannot be merged; submit it first.", state="draft", tag_set_id=tag_set_id
            )
        if tag_set.source == "merge":
            raise errors.invalid("Must not be a merge itself.", f"tag_set_ids.{position}")
        rules.check_reviewer(caller, tag_set)
        sources.append(tag_set)
    for merge_id in deciding.list_merges(artifact_id, COMPLETED):
        raise errors.conflict("This artifact already has a merge.", tag_set_id=merge_id)
    if any(source.schema_id != source.schema_of_artifact for source in sources):
        raise errors.invalid("Must be tag sets of the artifact's current schema.", "tag_set_ids")
    return sources


def _index_choices(
    choices: Sequence[dict[str, Any]], cells: _Cells, reviewer_tags: list[dict[str, Any]]
) -> dict[Place, UUID]:
    """Return {place: the chosen tag set}. Raises 400 on an invalid choice."""
    all_places = {place for places in cells.values() for place in places}
    reviewer_places = group_by_place(reviewer_tags)
    chosen: dict[Place, UUID] = {}
    for position, choice in enumerate(choices):
        place = (choice["field"], choice["row"])
        path = f"choices.{position}"
        if choice["tag_set_id"] not in cells:
            raise errors.invalid("Must be one of tag_set_ids.", f"{path}.tag_set_id")
        if place not in all_places:
            raise errors.invalid(
                "None of the tag sets has a value for this field and row.", f"{path}.field"
            )
        if place in chosen or place in reviewer_places:
            raise errors.invalid(
                "Another choice or a tag already decides this field and row.", f"{path}.field"
            )
        chosen[place] = choice["tag_set_id"]
    return chosen


def _adjudicate(
    lineup: Lineup,
    terms: rules.Terms,
    strategy: str,
    cells: _Cells,
    chosen: dict[Place, UUID],
    reviewer_tags: list[dict[str, Any]],
) -> _Merged:
    ids = list(cells)
    reviewer_places = group_by_place(reviewer_tags)
    merged = _Merged([], [])
    undecided: list[Ballot] = []
    for ballot in find_majority(lineup.sets, terms.shapes):
        place = (ballot.field, ballot.row)
        if place in reviewer_places:
            continue
        if place in chosen:
            for tag in cells[chosen[place]].get(place, ()):
                merged.add(tag, [chosen[place]], "choice")
        elif ballot.unanimous or (strategy == "majority" and not ballot.tie):
            for winner in ballot.winners:
                by = "agreement" if len(winner.voters) == len(ids) else "majority"
                merged.add(winner.tag, [ids[voter] for voter in winner.voters], by)
        else:
            undecided.append(ballot)
    if undecided:
        raise _build_undecided_error(undecided, ids, lineup)
    for tag in reviewer_tags:
        merged.add(tag, [], "reviewer")
    return merged.remove_empty_rows(lineup)


def _build_undecided_error(
    ballots: list[Ballot], ids: list[UUID], lineup: Lineup
) -> errors.ApiError:
    rendered = [render_ballot(ballot, ids, lineup) for ballot in ballots[:MAX_UNDECIDED_FIELDS]]
    complete = limit_size(rendered, max_bytes=MAX_BYTES)
    shortened = [{**ballot, "values": [], "majority": []} for ballot in rendered[len(complete) :]]
    return errors.invalid(
        "The tag sets do not decide these fields. Send a choice or tags for each field.",
        "choices",
        undecided=[*complete, *shortened],
        truncated=len(complete) < len(ballots),
    )
