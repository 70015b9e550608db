"""Label sets beside what they are compared with: another one, a revision, the prediction."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from app.documents.artifacts import service as artifacts
from app.engines.agreement import (
    MOST_MATCHED,
    Ballot,
    Effort,
    Lineup,
    Place,
    agreement,
    diff_by_content,
    line_up,
    majority,
    table_of,
)
from app.kit import errors
from app.kit.pagination import Page, PageRequest
from app.kit.principal import Caller
from app.workflow.tag_sets.queries import beside, revisions
from app.workflow.tag_sets.queries.reading import PAGE_BYTES
from app.workflow.tag_sets.service import automatic, reading, rules
from app.workflow.tag_sets.service.changes import bounded, fitting


class _Side(NamedTuple):
    """One side of a comparison."""

    kind: str
    tag_set_id: UUID
    revision: int
    tags: list[Any]


def list_revisions(
    tag_set_id: UUID, *, caller: Caller, page: PageRequest, **created: datetime
) -> Page:
    """A page of a label set's revisions, each with what changed since the one before. `created`:
    created_after, created_before.

    `changes` is null where the tags of either exceed 8 MiB divided by the page's size, and holds
    fewer entries than there are where they do. Raises 404 as reading the label set does.
    """
    held = reading.get(tag_set_id, caller=caller)
    found = revisions.page(page, tag_set_id, **created)
    share = PAGE_BYTES // page.page_size
    numbers = [row.number for row in found.items]
    wanted = {*numbers, *(number - 1 for number in numbers)}
    tags = revisions.tags(tag_set_id, sorted(wanted), most_bytes=share)
    tags[0] = []  # before the first there was nothing
    known = rules.terms(held.schema_version_id).shapes

    def changes(number: int) -> dict[str, Any] | None:
        if number not in tags or number - 1 not in tags:
            return None
        found = diff_by_content(tags[number - 1], tags[number], known)
        return bounded(found.changes, moved=found.moved, most_bytes=share)

    items = [{**row._asdict(), "changes": changes(row.number)} for row in found.items]
    return replace(found, items=items)


def compare(
    tag_set_id: UUID,
    *,
    caller: Caller,
    against: UUID | None = None,
    revision: int | None = None,
    prediction: bool = False,
    at_revision: int | None = None,
) -> dict[str, Any]:
    """What differs between a label set, as it is or was `at_revision`, and exactly one of another
    label set of the document, a revision of its own, and the model's latest prediction.

    Raises 404 as reading the label set does; 400 on the parameter that names nothing to compare
    with, or when there is not exactly one.
    """
    held = reading.get(tag_set_id, caller=caller)
    if [against is not None, revision is not None, prediction].count(True) != 1:
        raise errors.invalid("Name exactly one of against, revision and prediction.", "against")
    if against is not None:
        other = _another(held, against, caller)
    elif revision is not None:
        other = _revision(tag_set_id, revision, "revision")
    else:
        other = _prediction(held, caller)
    this = _Side("tag_set", tag_set_id, held.revision, held.tags)
    if at_revision is not None:
        this = _revision(tag_set_id, at_revision, "at_revision")
    found = diff_by_content(other.tags, this.tags, rules.terms(held.schema_version_id).shapes)
    counted = bounded(found.changes, entries=0)
    return {
        "tag_set_id": tag_set_id,
        "revision": this.revision,
        "against": other._asdict(),
        **{kind: counted[kind] for kind in ("added", "removed", "changed")},
        "changes": found.changes,
        "moved": found.moved,
    }


def _another(held: Any, tag_set_id: UUID, caller: Caller) -> _Side:
    row = reading.find(tag_set_id, caller=caller)
    if row is None or row.artifact_id != held.artifact_id:
        raise errors.invalid("Must be another label set of this document.", "against")
    return _Side("tag_set", row.id, row.revision, row.tags)


def _revision(tag_set_id: UUID, number: int, parameter: str) -> _Side:
    tags = revisions.tags(tag_set_id, (number,)).get(number)
    if tags is None:
        raise errors.invalid("The label set has no such revision.", parameter)
    return _Side("revision", tag_set_id, number, tags)


def _prediction(held: Any, caller: Caller) -> _Side:
    row = beside.latest_prediction(held.artifact_id)
    if row is None or reading.find(row.id, caller=caller) is None:
        raise errors.invalid("The document has no prediction.", "prediction")
    return _Side("prediction", row.id, row.revision, row.tags)


def consensus(artifact_id: UUID) -> dict[str, Any]:
    """A document's label sets side by side: each value with the label sets that gave it, what most
    of them say, and how far they agree.

    Counted are the independent ones that were submitted or accepted, or that a merge superseded;
    rejected ones, merges, predictions and those of a schema that the document had before are only
    listed. Of a gold document each is also compared
    with the accepted one, a merge before others. Where more spans or boxes would have to be matched
    than a request can wait for, the figures that need it are None. `fields` has as many as fit into
    8 MiB, and `truncated` says that there are more. Raises 404.
    """
    document = artifacts.get(artifact_id)
    rows = beside.of_document(artifact_id)
    # Versions of different schemas do not compare, nor do their fields.
    current = [row for row in rows if row.schema_id == document.schema_id]
    counted = [row for row in current if _counts(row)]
    newest = max(current, key=lambda row: row.version, default=None)
    terms = rules.terms(newest.schema_version_id) if newest is not None else None
    known = terms.shapes if terms is not None else {}
    lined = line_up([row.tags for row in counted], known)
    effort = Effort(MOST_MATCHED)
    found = agreement(lined.sets, known, effort)
    ids = [row.id for row in counted]
    ballots = majority(lined.sets, known)
    fields = _fields(ballots, ids, lined, found.places if found is not None else {})
    gold = _reference(current) if document.gold else None
    return {
        "artifact_id": artifact_id,
        "labels_per_artifact": newest.labels_wanted if newest is not None else None,
        "agreement": found.overall if found is not None else None,
        "sets": [
            _listed(row, counted=row.id in ids, gold_agreement=_with_gold(row, gold, known, effort))
            for row in rows
        ],
        "fields": fields,
        "truncated": len(fields) < len(ballots),
    }


def _fields(
    ballots: Sequence[Ballot], ids: Sequence[UUID], lined: Lineup, places: dict[Place, float]
) -> list[dict[str, Any]]:
    told = (
        {**shown(one, ids, lined), "agreement": places.get((one.field, one.row))} for one in ballots
    )
    return fitting(told, most_bytes=PAGE_BYTES)


def _listed(row: Any, **more: Any) -> dict[str, Any]:
    return {
        "tag_set_id": row.id,
        "labeler": row.labeler,
        "source": row.source,
        "status": row.status,
        "superseded_by": row.superseded_by,
        **more,
    }


def shown(ballot: Ballot, tag_set_ids: Sequence[UUID], lined: Lineup) -> dict[str, Any]:
    """A ballot as the API shows it: field, row, rows (the number in each label set that has the
    row), values, majority, tie."""
    line = () if ballot.row is None else lined.rows[table_of(ballot.field), ballot.row]
    return {
        "field": ballot.field,
        "row": ballot.row,
        "rows": [
            {"tag_set_id": one, "row": row}
            for one, row in zip(tag_set_ids, line, strict=False)
            if row is not None
        ],
        "values": [
            {
                "value": choice.tag["value"],
                "evidence": choice.tag["evidence"],
                "tag_set_ids": [tag_set_ids[voter] for voter in choice.voters],
            }
            for choice in ballot.choices
        ],
        "majority": [choice.tag["value"] for choice in ballot.winners],
        "tie": ballot.tie,
    }


def _counts(row: Any) -> bool:
    stands = row.status in ("submitted", "accepted") or row.superseded_by is not None
    return stands and row.source not in automatic.NOT_INDEPENDENT


def _reference(rows: Sequence[Any]) -> Any:
    accepted = [row for row in rows if row.status == "accepted"]
    return min(accepted, key=lambda row: (row.source != "merge", row.id), default=None)


def _with_gold(row: Any, gold: Any, known: Any, effort: Effort) -> float | None:
    if gold is None or row.id == gold.id or row.schema_id != gold.schema_id:
        return None
    found = agreement(line_up([gold.tags, row.tags], known).sets, known, effort)
    return found.overall if found is not None else None
