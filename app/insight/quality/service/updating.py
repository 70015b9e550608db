"""Keep the daily aggregates (`QualityCell`, cells) equal to the sums of all contributions.

To recount a document, its contributions (`QualityDocument`) are computed again. The difference from
its stored contributions is added to the cells in the same transaction. So each document is counted
exactly once, even if jobs are killed, retried or executed in a different order.
"""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from app.identity.organizations import service as organizations
from app.insight.quality.models import RULES_VERSION
from app.insight.quality.queries import cells, documents, sums
from app.insight.quality.queries.cells import RecountState
from app.insight.quality.service.contributions import compute_contributions
from app.insight.quality.service.tally import Contributions
from app.kit import db, tenancy
from app.kit.days import find_zone
from app.kit.db import Checkpoint, ReportProgress

BATCH_SIZE = 100
"""The maximum number of documents that are counted in one transaction."""
_MIN_ID = UUID(int=0)
_KEY_LENGTH = 5
"""The number of values at the start of a contribution that are the key of a cell (`CellKey`)."""


def update(artifact_ids: Iterable[UUID], checkpoint: Checkpoint) -> None:
    """Update the cells by recounting documents in batches.

    `checkpoint` commits every batch except the last one.
    """
    ordered_ids = sorted(set(artifact_ids))
    for start in range(0, len(ordered_ids), BATCH_SIZE):
        if start:
            checkpoint()
        zone = cells.lock_state_shared(_get_time_zone())
        _recount(ordered_ids[start : start + BATCH_SIZE], zone)


def rebuild(
    checkpoint: Checkpoint, report: ReportProgress | None = None, *, resume: bool = False
) -> int:
    """Rebuild the cells and the period sums (`QualitySum`) of the current organization.

    Recounts all documents. Returns how many cells and period sums were wrong or missing. The
    service can run meanwhile: `checkpoint` commits each batch of documents, and then the corrected
    cells of each schema. `report` receives the number of counted documents and the total. With
    `resume`, an interrupted recount is continued if it began with the same rules and time zone.
    """
    zone = _get_time_zone()
    total = documents.count_labeled_artifacts() if report is not None else 0
    state = cells.lock_state(zone)
    continues_recount = resume and (state.time_zone, state.rules) == (zone, RULES_VERSION)
    last_id = (state.last_counted_artifact_id if continues_recount else None) or _MIN_ID
    state = state._replace(
        time_zone=zone,
        rules=RULES_VERSION,
        last_counted_artifact_id=last_id,
        last_repaired_schema_id=state.last_repaired_schema_id if continues_recount else None,
    )
    cells.set_state(state)
    done_count = 0
    while batch := documents.list_next_artifact_ids(last_id, BATCH_SIZE):
        _recount(batch, zone)
        last_id = batch[-1]
        cells.set_state(state._replace(last_counted_artifact_id=last_id))
        checkpoint()
        done_count += len(batch)
        if report is not None:
            report(min(done_count, total), total)
        cells.lock_state(zone)
    wrong_count = _repair(state._replace(last_counted_artifact_id=last_id), checkpoint)
    cells.lock_state(zone)
    wrong_count += sums.repair()
    now = db.utc_now()
    cells.set_state(RecountState(zone, RULES_VERSION, None, None, counted_at=now, summed_at=now))
    return wrong_count


def _repair(state: RecountState, checkpoint: Checkpoint) -> int:
    """Repair the cells of the schemas that are not repaired yet; return how many cells were wrong.

    Each schema is one transaction, so that a large organization is not locked as a whole, and an
    interrupted repair continues with the next schema. The caller must have locked the state.
    """
    wrong_count = 0
    for schema_id in cells.list_schema_ids(state.last_repaired_schema_id or _MIN_ID):
        cells.lock_state(state.time_zone)
        wrong_count += cells.repair(schema_id)
        cells.set_state(state._replace(last_repaired_schema_id=schema_id))
        checkpoint()
    return wrong_count


def complete_sums() -> None:
    """Complete the period sums (`QualitySum`) of the current organization, if necessary."""
    state = cells.lock_state(_get_time_zone())
    if state.summed_at is None:
        sums.repair()
        cells.set_state(state._replace(summed_at=db.utc_now()))


def _get_time_zone() -> str:
    return organizations.get_time_zone(tenancy.current_organization_id())


def _recount(artifact_ids: Sequence[UUID], zone: str) -> None:
    """Recount documents: replace their contributions, and add the differences to the cells.

    The caller must have locked the `QualityState`.
    """
    stored_contributions = cells.lock_contributions(artifact_ids)
    computed_contributions: dict[UUID, Contributions] = {key: {} for key in artifact_ids}
    for document in documents.load_documents(artifact_ids):
        computed_contributions[document.id] = compute_contributions(document, find_zone(zone))
    packed_contributions = {key: _pack(value) for key, value in computed_contributions.items()}
    changed_contributions = {
        key: value
        for key, value in packed_contributions.items()
        if value != stored_contributions[key] or not value
    }
    cells.store_contributions(changed_contributions)
    deltas: dict[tuple[Any, ...], list[int]] = {}
    for artifact_id, contributions in changed_contributions.items():
        _add_contributions(deltas, stored_contributions[artifact_id], -1)
        _add_contributions(deltas, contributions, 1)
    cells.add_deltas([[*key, *values] for key, values in sorted(deltas.items()) if any(values)])


def _add_contributions(
    deltas: dict[tuple[Any, ...], list[int]], contributions: Sequence[list[Any]], sign: int
) -> None:
    for contribution in contributions:
        key, values = tuple(contribution[:_KEY_LENGTH]), contribution[_KEY_LENGTH:]
        totals = deltas.setdefault(key, [0] * len(values))
        for position, value in enumerate(values):
            totals[position] += sign * value


def _pack(contributions: Contributions) -> list[list[Any]]:
    """Pack contributions into their stored format, and sort them."""
    return sorted([*map(str, key), *values] for key, values in contributions.items() if any(values))
