"""Choice of the assignee of an artifact by the strategy of a rule."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heapify, heapreplace
from uuid import UUID

from app.identity.members.eligibility import find_eligible
from app.kit.permissions import Role
from app.workflow.routing_rules.queries import people as queries
from app.workflow.routing_rules.queries.people import Members
from app.workflow.routing_rules.service.rules import Rule

NOBODY = "no_member_can_label"
NO_SKILLS = "no_member_has_the_skills"
NOT_THEY = "user_cannot_label"


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen user or team; with neither, the document stays in the pool.

    `note` says why it is not the one that the strategy would choose.
    """

    user_id: UUID | None = None
    team_id: UUID | None = None
    note: str | None = None


@dataclass
class People:
    """Data about members that the choice of an assignee needs."""

    members: Members
    labelers: set[UUID]
    skills: dict[UUID, frozenset[str]]
    loads: Counter[UUID]
    required: dict[UUID, frozenset[str]]


def people(rules: Iterable[Rule], schema_ids: Iterable[UUID]) -> People:
    """Load the data for choosing assignees by these rules, for documents of these schemas.

    Runs a few statements whatever their number, and none that no rule needs.
    """
    rules = list(rules)
    teams: dict[str, set[UUID]] = defaultdict(set)
    for rule in rules:
        if rule.team_id is not None and rule.strategy is not None:
            teams[rule.strategy].add(rule.team_id)
    every = teams["round_robin"] | teams["least_loaded"] | teams["skills"]
    found = queries.members(every) if every else Members({}, {})
    skilled = {user for team in teams["skills"] for user in found.below.get(team, ())}
    loaded = {user for team in teams["least_loaded"] for user in found.own.get(team, ())}
    loaded |= skilled
    named = {r.user_id for r in rules if r.user_id}
    return People(
        members=found,
        labelers=find_eligible(named, Role.labeler) if named else set(),
        skills=queries.skills(skilled) if skilled else {},
        loads=Counter(queries.loads(loaded) if loaded else {}),
        required=queries.required(set(schema_ids)) if teams["skills"] else {},
    )


@dataclass
class Chooser:
    """Choose assignees for one document after another, and add each to the assignee's load.

    `turns` maps the position of a round-robin rule to the user whose turn it was last.
    """

    people: People
    turns: dict[int, UUID] = field(default_factory=dict)
    _pools: dict[tuple[UUID, frozenset[str] | None], "_Pool"] = field(default_factory=dict)

    def choose(self, rule: Rule, schema_id: UUID | None) -> Choice:
        """Choose the assignee of an artifact of this schema for a rule."""
        if rule.user_id is not None:
            if rule.user_id not in self.people.labelers:
                return Choice(note=NOT_THEY)
            return self._given(rule.user_id)
        assert rule.team_id is not None
        if rule.strategy == "round_robin":
            return self._by_turns(rule, rule.team_id)
        if rule.strategy == "least_loaded":
            return self._least_loaded(rule.team_id, None)
        if rule.strategy == "skills":
            needed = self.people.required.get(schema_id) if schema_id else None
            return self._least_loaded(rule.team_id, needed or frozenset())
        return Choice(team_id=rule.team_id)

    def _given(self, user_id: UUID) -> Choice:
        self.people.loads[user_id] += 1
        return Choice(user_id=user_id)

    def _by_turns(self, rule: Rule, team_id: UUID) -> Choice:
        members = self.people.members.own.get(team_id)
        if not members:
            return Choice(team_id=team_id, note=NOBODY)
        last = self.turns.get(rule.position, rule.cursor_user_id)
        # The next id after the last user's: members who joined or left do not change the order.
        place = 0 if last is None else bisect_right(members, last) % len(members)
        self.turns[rule.position] = members[place]
        return self._given(members[place])

    def _least_loaded(self, team_id: UUID, needed: frozenset[str] | None) -> Choice:
        pool = self._pools.get((team_id, needed))
        if pool is None:
            pool = _Pool(self._candidates(team_id, needed), self.people.loads)
            self._pools[team_id, needed] = pool
        user_id = pool.least()
        if user_id is None:
            return Choice(team_id=team_id, note=NO_SKILLS if needed else NOBODY)
        return self._given(user_id)

    def _candidates(self, team_id: UUID, needed: frozenset[str] | None) -> list[UUID]:
        members = self.people.members
        if needed is None:
            return members.own.get(team_id, [])
        nothing: frozenset[str] = frozenset()
        return [
            user_id
            for user_id in members.below.get(team_id, [])
            if needed <= self.people.skills.get(user_id, nothing)
        ]


class _Pool:
    """Candidates ordered by load, least first, then by id.

    Loads only grow while a batch is routed, also through other pools. An outdated entry is
    therefore too small: it comes to the top and is corrected there.
    """

    def __init__(self, user_ids: list[UUID], loads: Counter[UUID]) -> None:
        self._loads = loads
        self._heap = [(loads[user_id], user_id) for user_id in user_ids]
        heapify(self._heap)

    def least(self) -> UUID | None:
        """Return the least loaded candidate, or None without candidates."""
        while self._heap:
            load, user_id = self._heap[0]
            if load == self._loads[user_id]:
                return user_id
            heapreplace(self._heap, (self._loads[user_id], user_id))
        return None
