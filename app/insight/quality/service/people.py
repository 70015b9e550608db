"""The metrics of labelers and reviewers."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any, NamedTuple
from uuid import UUID

from app.insight.quality.models import Subject
from app.insight.quality.queries import reading
from app.insight.quality.queries.reading import Filter
from app.insight.quality.service.latest import build_throughput
from app.insight.quality.service.periods import get_period
from app.insight.quality.service.rates import (
    build_acceptance,
    build_overturned,
    build_rates,
    build_speed,
    compute_rate,
    count_decisions,
)
from app.kit import errors
from app.kit.pagination import Page, PageRequest
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.schemas.artifact_schemas import service as schemas

_OF_LABELERS = ("acceptance_rate", "correction_rate", "gold_accuracy", "agreement")


class Visible(NamedTuple):
    """The labelers and the teams whose figures a caller may see; None means all."""

    labelers: Sequence[UUID] | None
    teams: Sequence[UUID] | None

    def check_labeler(self, user_id: UUID) -> None:
        """Raise 403 if the caller may not see this labeler."""
        if self.labelers is not None and user_id not in self.labelers:
            raise errors.denied("You may not see the figures of this labeler.")

    def check_team(self, team_id: UUID) -> None:
        """Raise 403 if the caller may not see this team."""
        if self.teams is not None and team_id not in self.teams:
            raise errors.denied("You may not see the figures of this team.")


def find_visible(caller: Caller) -> Visible:
    """Return the labelers and teams whose figures the caller may see.

    Administrators see all. Reviewers see their teams and the members, or all if they are in no
    team: then they review the work of all. Everybody else sees their own figures. An API key
    stands for no person: it sees all from the role of a reviewer up, and nobody below.
    """
    if caller.has(Role.admin) or (caller.has(Role.reviewer) and caller.api_key_id is not None):
        return Visible(None, None)
    if not caller.has(Role.reviewer):
        return Visible([] if caller.api_key_id is not None else [caller.user_id], [])
    teams = reading.list_teams(caller.user_id)
    if not teams:
        return Visible(None, None)
    return Visible([*reading.list_members(teams)], teams)


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
    """Return a page of labelers that the caller may see, with their metrics in the period.

    Raises 404 for an unknown schema; 403 on a labeler or team that the caller may not see; 422
    on the period.
    """
    visible = find_visible(caller)
    labelers = visible.labelers
    if user_id is not None:
        visible.check_labeler(user_id)
        labelers = [user_id]
    if team_id is not None:
        visible.check_team(team_id)
    period = get_period(caller, first, end)
    if schema_id is not None:
        schemas.get(schema_id)
    chosen = Filter(
        Subject.LABELER,
        period.first,
        period.end,
        schema_id=schema_id,
        team_id=team_id,
        labelers=labelers,
    )
    result = reading.list_people(page, chosen)
    return replace(result, items=[_build_labeler(row) for row in result.items])


def _build_labeler(row: Any) -> dict[str, Any]:
    counts = reading.get_counts(row)
    return {
        "id": row.user_id,
        "user": row.user,
        **build_rates(counts, *_OF_LABELERS),
        "throughput": build_throughput(counts),
        "speed": build_speed(counts),
    }


def list_reviewers(
    *,
    caller: Caller,
    page: PageRequest,
    first: date | None = None,
    end: date | None = None,
    schema_id: UUID | None = None,
) -> Page:
    """Return a page of reviewers with their decisions in the period.

    `leniency` is the acceptance rate minus that of all other reviewers, where both have decisions.
    Raises 404 for an unknown schema; 422 on the period.
    """
    period = get_period(caller, first, end)
    if schema_id is not None:
        schemas.get(schema_id)
    chosen = Filter(Subject.REVIEWER, period.first, period.end, schema_id=schema_id)
    result = reading.list_people(page, chosen)
    return replace(result, items=[_build_reviewer(row) for row in result.items])


def _build_reviewer(row: Any) -> dict[str, Any]:
    counts = reading.get_counts(row)
    own = build_acceptance(counts)
    peers = compute_rate(int(row.peers_accepted), int(row.peers_decided))
    comparable = own["value"] is not None and peers.value is not None
    return {
        "id": row.user_id,
        "user": row.user,
        "decisions": count_decisions(counts),
        **{name: counts[name] for name in ("accepted", "corrected", "rejected")},
        "overturned": build_overturned(counts),
        "acceptance_rate": own,
        "peer_acceptance_rate": peers._asdict(),
        "leniency": own["value"] - peers.value if comparable else None,
    }
