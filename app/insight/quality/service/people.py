"""The metrics of labelers and reviewers."""

from dataclasses import replace
from datetime import date
from typing import Any
from uuid import UUID

from app.insight.quality.models import CellSubject
from app.insight.quality.queries import reading
from app.insight.quality.queries.reading import PersonRow
from app.insight.quality.queries.selections import CellFilter
from app.insight.quality.service.latest import build_throughput
from app.insight.quality.service.periods import get_period
from app.insight.quality.service.rates import (
    build_speed,
    compute_acceptance_rate,
    compute_rate,
    compute_rates,
    count_decisions,
)
from app.insight.visibility.service import get_visibility
from app.kit.pagination import Page, PageRequest
from app.kit.principal import Caller
from app.schemas.artifact_schemas.service import drafts as schemas

_LABELER_METRICS = ("acceptance_rate", "correction_rate", "gold_accuracy", "agreement")


def list_labelers(
    *,
    caller: Caller,
    page: PageRequest,
    first: date | None = None,
    end: date | None = None,
    schema_id: UUID | None = None,
    team_id: UUID | None = None,
    user_id: UUID | None = None,
) -> Page:
    """Return a page of labelers whom the caller may see, with their metrics in the period.

    Raises 404 for an unknown schema; 403 for a labeler or team whose metrics the caller may not
    see; 400 for an invalid period.
    """
    visibility = get_visibility(caller)
    labeler_ids = visibility.labeler_ids
    if user_id is not None:
        visibility.check_labeler(user_id)
        labeler_ids = [user_id]
    if team_id is not None:
        visibility.check_team(team_id)
    period = get_period(caller, first, end)
    if schema_id is not None:
        schemas.check_exists(schema_id)
    cell_filter = CellFilter(
        CellSubject.LABELER,
        period.first,
        period.end,
        schema_id=schema_id,
        team_id=team_id,
        user_ids=labeler_ids,
    )
    people = reading.list_people(page, cell_filter)
    return replace(people, items=[_build_labeler(row) for row in people.items])


def _build_labeler(row: PersonRow) -> dict[str, Any]:
    counts = row._asdict()
    return {
        "id": row.user_id,
        "user": _build_user(row),
        **compute_rates(counts, *_LABELER_METRICS),
        "throughput": build_throughput(counts),
        "speed": build_speed(counts),
    }


def _build_user(row: PersonRow) -> dict[str, Any]:
    return {"id": row.user_id, "name": row.name, "email": row.email}


def list_reviewers(
    *,
    caller: Caller,
    page: PageRequest,
    first: date | None = None,
    end: date | None = None,
    schema_id: UUID | None = None,
) -> Page:
    """Return a page of reviewers with their decisions in the period.

    `leniency` is the acceptance rate minus the acceptance rate of all other reviewers together. It
    is None if there are no decisions for one of these rates. Raises 404 for an unknown schema; 400
    for an invalid period.
    """
    period = get_period(caller, first, end)
    if schema_id is not None:
        schemas.check_exists(schema_id)
    cell_filter = CellFilter(CellSubject.REVIEWER, period.first, period.end, schema_id=schema_id)
    people = reading.list_people(page, cell_filter)
    return replace(people, items=[_build_reviewer(row) for row in people.items])


def _build_reviewer(row: PersonRow) -> dict[str, Any]:
    counts = row._asdict()
    decisions = count_decisions(counts)
    rate = compute_acceptance_rate(counts)
    peer_rate = compute_rate(row.peers_accepted, row.peers_decided)
    leniency = None
    if rate.value is not None and peer_rate.value is not None:
        leniency = rate.value - peer_rate.value
    return {
        "id": row.user_id,
        "user": _build_user(row),
        "decisions": decisions,
        **{name: counts[name] for name in ("accepted", "corrected", "rejected")},
        "overturned": compute_rate(counts["overturned"], decisions),
        "acceptance_rate": rate,
        "peer_acceptance_rate": peer_rate,
        "leniency": leniency,
    }
