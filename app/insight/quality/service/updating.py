"""Keep the daily aggregates equal to the sums of the documents' contributions.

A document's contributions are computed from its rows, and the difference from its stored
contributions is added to the cells in the same transaction. So each document counts exactly once,
even if runs are killed, retried or executed in another order.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from app.engines.agreement import Shapes
from app.identity.organizations import service as organizations
from app.insight.quality.models import RULES_VERSION, Subject
from app.insight.quality.queries import cells, documents, sums
from app.insight.quality.queries.cells import State
from app.insight.quality.queries.documents import LoadedDocument
from app.insight.quality.service.contributions import compute
from app.insight.quality.service.histories import (
    Contributions,
    Document,
    Key,
    Revision,
    TagSetHistory,
)
from app.kit import db, tenancy
from app.workflow.tag_sets.service import rules

BATCH = 100
"""The maximum number of documents that are counted in one transaction."""
_START = UUID(int=0)
_KEY_LENGTH = 5


def update(artifact_ids: Iterable[UUID], checkpoint: Callable[[], None]) -> None:
    """Recount documents in batches; `checkpoint` commits all batches but the last."""
    ordered = sorted(set(artifact_ids))
    for start in range(0, len(ordered), BATCH):
        if start:
            checkpoint()
        zone = cells.share_state(_get_time_zone())
        _recount(ordered[start : start + BATCH], zone)


def rebuild(
    checkpoint: Callable[[], None],
    report: Callable[[int, int], None] | None = None,
    *,
    resume: bool = False,
) -> int:
    """Recount all documents of the current organization; return how many cells or sums were wrong.

    The service can run meanwhile: `checkpoint` commits each batch of documents, and then each
    schema. `report` receives the number of counted documents and the total. With `resume`, an
    interrupted recount is continued if it began with the same rules and time zone. Errors of
    `checkpoint` are not caught.
    """
    zone = _get_time_zone()
    total = documents.count_labeled() if report is not None else 0
    state = cells.lock_state(zone)
    continues_recount = resume and (state.time_zone, state.rules) == (zone, RULES_VERSION)
    after = (state.counted_until if continues_recount else None) or _START
    repaired_until = state.repaired_until if continues_recount else None
    state = state._replace(
        time_zone=zone, rules=RULES_VERSION, counted_until=after, repaired_until=repaired_until
    )
    cells.set_state(state)
    done_count = 0
    while batch := documents.list_next(after, BATCH):
        _recount(batch, zone)
        after = batch[-1]
        cells.set_state(state._replace(counted_until=after))
        checkpoint()
        done_count += len(batch)
        if report is not None:
            report(min(done_count, total), total)
        cells.lock_state(zone)
    wrong_count = _repair(state._replace(counted_until=after), checkpoint)
    cells.lock_state(zone)
    wrong_count += sums.repair()
    now = db.utc_now()
    cells.set_state(State(zone, RULES_VERSION, None, None, counted_at=now, summed_at=now))
    return wrong_count


def _repair(state: State, checkpoint: Callable[[], None]) -> int:
    """Repair the cells of each schema after `state.repaired_until`; return how many were wrong.

    Each schema is one transaction, so that a large organization is not locked as a whole, and an
    interrupted repair continues with the next schema. The caller has locked the state.
    """
    wrong_count = 0
    for schema_id in cells.list_schemas(state.repaired_until or _START):
        cells.lock_state(state.time_zone)
        wrong_count += cells.repair(schema_id)
        cells.set_state(state._replace(repaired_until=schema_id))
        checkpoint()
    return wrong_count


def complete_sums() -> None:
    """Compute the sums of the current organization if they are incomplete."""
    state = cells.lock_state(_get_time_zone())
    if state.summed_at is None:
        sums.repair()
        cells.set_state(state._replace(summed_at=db.utc_now()))


def list_outdated() -> list[UUID]:
    """Return the ids of organizations that must be recounted."""
    return cells.list_outdated(organizations.DEFAULT_TIME_ZONE)


def list_incomplete() -> list[UUID]:
    """Return the ids of organizations whose sums must be computed."""
    return sums.list_incomplete()


def _get_time_zone() -> str:
    return organizations.get_time_zone(tenancy.current_organization_id())


def _parse_zone(name: str) -> ZoneInfo:
    """Return the time zone, or UTC if the machine does not know it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def _recount(artifact_ids: Sequence[UUID], zone: str) -> None:
    """Replace the contributions of documents, and add the differences to the cells.

    The caller has locked the state.
    """
    stored = cells.lock_documents(artifact_ids)
    computed: dict[UUID, Contributions] = {key: {} for key in artifact_ids}
    for loaded in documents.load(artifact_ids):
        computed[loaded.id] = compute(_build_document(loaded), _parse_zone(zone), _get_shapes)
    packed = {key: _pack(value) for key, value in computed.items()}
    changed = {key: value for key, value in packed.items() if value != stored[key] or not value}
    cells.store_documents(changed)
    deltas: dict[tuple[Any, ...], list[int]] = {}
    for artifact_id, contributions in changed.items():
        _add_up(deltas, stored[artifact_id], -1)
        _add_up(deltas, contributions, 1)
    cells.add([[*key, *values] for key, values in sorted(deltas.items()) if any(values)])


def _get_shapes(version_id: UUID) -> Shapes:
    return rules.get_terms(version_id).shapes


def _add_up(
    deltas: dict[tuple[Any, ...], list[int]], contributions: Sequence[list[Any]], sign: int
) -> None:
    for contribution in contributions:
        key, values = tuple(contribution[:_KEY_LENGTH]), contribution[_KEY_LENGTH:]
        totals = deltas.setdefault(key, [0] * len(values))
        for position, value in enumerate(values):
            totals[position] += sign * value


def _pack(contributions: Contributions) -> list[list[Any]]:
    """Return contributions in their stored form, sorted."""
    return sorted(
        [*_pack_key(key), *values] for key, values in contributions.items() if any(values)
    )


def _pack_key(key: Key) -> list[str]:
    return [
        Subject(key.subject).value,
        str(key.schema_id),
        key.name,
        key.field_type,
        key.day.isoformat(),
    ]


def _build_document(loaded: LoadedDocument) -> Document:
    return Document(
        loaded.schema_id,
        loaded.gold,
        [_build_history(row, loaded) for row in loaded.tag_sets],
        loaded.has_tags,
    )


def _build_history(row: Any, loaded: LoadedDocument) -> TagSetHistory:
    revisions = [
        Revision(
            revision.number,
            revision.kind,
            revision.author_id,
            revision.created_at,
            revision.tags or [],
        )
        for revision in loaded.revisions.get(row.id, [])
    ]
    return TagSetHistory(
        row.id,
        row.schema_id,
        row.schema_version_id,
        row.labeler_id,
        row.source,
        row.status,
        row.superseded_by is not None,
        row.seconds_spent,
        revisions,
    )
