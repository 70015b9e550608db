"""Several label sets of a document are adjudicated into one."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from app.documents.artifacts import service as artifacts
from app.documents.artifacts.models import urgent_at
from app.engines.agreement import (
    Ballot,
    Lineup,
    Place,
    by_place,
    line_up,
    majority,
    numbered,
    table_of,
)
from app.kit import db, errors
from app.kit.principal import Caller
from app.workflow.tag_sets.queries import beside, deciding, reading
from app.workflow.tag_sets.service import decisions, provenance, rules, statuses
from app.workflow.tag_sets.service import sources as sources_of_tags
from app.workflow.tag_sets.service.changes import MAX_BYTES, fitting
from app.workflow.tag_sets.service.comparing import shown
from app.workflow.tag_sets.service.drafts import tell

MAX_UNDECIDED = 100
_Cells: TypeAlias = dict[UUID, dict[Place, list[Any]]]
"""Of each label set, in the order given, the tags of each place; rows lined up."""


class _Merged(NamedTuple):
    """Tags, and of each what decided and the label sets that have it."""

    tags: list[dict[str, Any]]
    origins: list[tuple[str, list[UUID]]]

    def add(self, tag: dict[str, Any], tag_set_ids: list[UUID], by: str) -> None:
        self.tags.append(tag)
        self.origins.append((by, tag_set_ids))

    def closed_up(self, lined: Lineup) -> "_Merged":
        """The same without the rows that nothing was kept of: those below them move up."""
        kept: dict[str, set[int]] = {}
        for tag in self.tags:
            if tag["row"] is not None:
                kept.setdefault(table_of(tag["field"]), set()).add(tag["row"])
        moved = {
            (table, row): number
            for table, rows in kept.items()
            for row, number in _closed_up(table, sorted(rows), lined)
        }

        def renumbered(one: dict[str, Any]) -> dict[str, Any]:
            return {**one, "row": moved.get((table_of(one["field"]), one["row"]))}

        return _Merged(list(map(renumbered, self.tags)), self.origins)

    def traced(
        self, tags: Sequence[dict[str, Any]], sources: Sequence[Any]
    ) -> list[provenance.Entry]:
        """The provenance; `tags` are these in canonical form."""
        revisions = {one.id: one.revision for one in sources}
        return [
            provenance.entry(tag, by, [(str(one), revisions[one]) for one in ids])
            for tag, (by, ids) in zip(tags, self.origins, strict=True)
        ]


def _closed_up(table: str, rows: list[int], lined: Lineup) -> Iterator[tuple[int, int]]:
    # A row that only the reviewer wrote has the number that they gave it.
    lines = [lined.rows.get((table, row), (row,)) for row in rows]
    return zip(rows, numbered(lines), strict=True)


def merge(
    *,
    caller: Caller,
    tag_set_ids: list[UUID],
    strategy: str,
    choices: Sequence[dict[str, Any]] = (),
    tags: Sequence[Any] = (),
    accept: bool = False,
    note: str | None = None,
) -> Any:
    """One label set made of 2 to 20 of a document: a merge, without a labeler, that records for
    each value which of them it came from. It waits for review or, with `accept`, is accepted.

    Of each place (a field, in a table with its row) it holds what the reviewer wrote in `tags`; or
    what the chosen label set has there; or, by the strategy `majority`, what more than half of them
    say, by `choose` what all of them say. Rows are lined up by content and numbered as in the
    consensus of the same label sets; those that nothing is kept of are closed up. Where that leaves
    a place open: 400 on `choices` with `details.undecided`. The schema version is the newest among
    them.

    Emits `tag_set.merged`. Raises 400 on what is named wrongly or does not fit the version, or
    `required_fields_missing`; 403 when one is the caller's own; 409 `conflict` with `details.state`
    of a draft among them, `tag_set_id` of another merge that waits or stands, or with `accept` of
    one of them that is in the hands of another reviewer, and `claim`, `assignee_id` or
    `assignee_team_id`.
    """
    artifact_id = _document(tag_set_ids)
    sources = _lock(artifact_id, tag_set_ids, caller)
    newest = max(sources, key=lambda one: one.version)
    terms = rules.terms(newest.schema_version_id)
    own = _own_tags(terms, tags, newest, sources, caller)
    lined = line_up([one.tags for one in sources], terms.shapes)
    cells = {one.id: by_place(tags) for one, tags in zip(sources, lined.sets, strict=True)}
    chosen = _chosen(choices, cells, own)
    merged = _adjudicate(lined, terms, strategy, cells, chosen, own)
    made = _insert(newest, sources, terms, merged, caller, note)
    if accept:
        _accept(made, sources, caller, note)
    statuses.update_status(artifact_id)
    return reading.get(made)


def _own_tags(
    terms: Any, tags: Sequence[Any], newest: Any, sources: Sequence[Any], caller: Caller
) -> list[Any]:
    """Return what the reviewer wrote, in normal form and with its true sources."""
    own = rules.check_tags(terms, list(tags), newest)
    if not sources_of_tags.may_claim(own, caller):
        sources_of_tags.set_sources(own, [tag for one in sources for tag in one.tags])
    return own


def _accept(made: UUID, sources: Sequence[Any], caller: Caller, note: str | None) -> None:
    decisions.check_sources(caller, sources)
    held = decisions.lock(made)
    decisions.mark_accepted(held, {}, reviewer_id=caller.user_id, kind="accept", note=note)


def _insert(
    newest: Any,
    sources: Sequence[Any],
    terms: rules.Terms,
    merged: _Merged,
    caller: Caller,
    note: str | None,
) -> UUID:
    checked = rules.check_tags(terms, merged.tags, newest, field="tag_set_ids")
    rules.check_complete(terms, checked)
    now = db.utc_now()
    ids = [one.id for one in sources]
    values = {
        "artifact_id": newest.artifact_id,
        "schema_id": newest.schema_id,
        "schema_version_id": newest.schema_version_id,
        "labeler_id": None,
        "source": "merge",
        "status": "submitted",
        "submitted_at": now,
        "tags": checked,
        "merged_from": [str(one) for one in ids],
        "provenance": merged.traced(checked, sources),
        "review_rank": decisions.review_rank(newest.priority, urgent_at(newest.due_at, now)),
    }
    made = deciding.insert_new(values, author_id=caller.user_id, kind="merge", note=note)
    tell("merged", made, values, merged_from=ids, author_id=caller.user_id)
    return made


def _document(tag_set_ids: list[UUID]) -> UUID:
    found = beside.documents_of(tag_set_ids)
    for position, one in enumerate(tag_set_ids):
        # Another organization's is none.
        if one not in found or found[one] != found.get(tag_set_ids[0]):
            message = "Must be label sets of one document."
            raise errors.invalid(message, f"tag_set_ids.{position}")
        if one in tag_set_ids[:position]:
            raise errors.invalid("Is named twice.", f"tag_set_ids.{position}")
    return found[tag_set_ids[0]]


def _lock(artifact_id: UUID, tag_set_ids: list[UUID], caller: Caller) -> list[Any]:
    """The label sets in the order given; 409 and 403 as `merge` says."""
    artifacts.lock(artifact_id)
    others = {one.id: one for one in deciding.lock_document(artifact_id)}
    sources = []
    for position, one in enumerate(tag_set_ids):
        held = others.get(one)
        if held is None:
            raise errors.conflict("A draft cannot be merged.", state="draft", tag_set_id=one)
        if held.source == "merge":
            raise errors.invalid("Must not be a merge itself.", f"tag_set_ids.{position}")
        rules.check_reviewer(caller, held)
        sources.append(held)
    for other in beside.merges(artifact_id, ("submitted", "accepted")):
        raise errors.conflict("The document has a merge already.", tag_set_id=other)
    if any(one.schema_id != one.schema_of_artifact for one in sources):
        raise errors.invalid("Must be label sets of the document's schema.", "tag_set_ids")
    return sources


def _chosen(
    choices: Sequence[dict[str, Any]], cells: _Cells, own: list[dict[str, Any]]
) -> dict[Place, UUID]:
    """{place: the label set that was chosen for it}; 400 on a choice that means nothing."""
    known = {place for places in cells.values() for place in places}
    written = by_place(own)
    found: dict[Place, UUID] = {}
    for position, choice in enumerate(choices):
        place = (choice["field"], choice["row"])
        path = f"choices.{position}"
        if choice["tag_set_id"] not in cells:
            raise errors.invalid("Must be one of tag_set_ids.", f"{path}.tag_set_id")
        if place not in known:
            raise errors.invalid("None of the label sets has a value there.", f"{path}.field")
        if place in found or place in written:
            raise errors.invalid("Is decided by another choice, or by tags.", f"{path}.field")
        found[place] = choice["tag_set_id"]
    return found


def _adjudicate(
    lined: Lineup,
    terms: rules.Terms,
    strategy: str,
    cells: _Cells,
    chosen: dict[Place, UUID],
    own: list[dict[str, Any]],
) -> _Merged:
    ids = list(cells)
    written = by_place(own)
    merged = _Merged([], [])
    undecided: list[Ballot] = []
    for ballot in majority(lined.sets, terms.shapes):
        place = (ballot.field, ballot.row)
        if place in written:
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
        raise _undecided(undecided, ids, lined)
    for tag in own:
        merged.add(tag, [], "reviewer")
    return merged.closed_up(lined)


def _undecided(ballots: list[Ballot], ids: list[UUID], lined: Lineup) -> errors.ApiError:
    listed = [shown(ballot, ids, lined) for ballot in ballots[:MAX_UNDECIDED]]
    whole = fitting(listed, most_bytes=MAX_BYTES)
    cut = [{**one, "values": [], "majority": []} for one in listed[len(whole) :]]
    return errors.invalid(
        "The label sets leave open what these fields hold. Choose, or write tags.",
        "choices",
        undecided=[*whole, *cut],
        truncated=len(whole) < len(ballots),
    )
