"""Functions that choose an artifact's assignee according to a rule's strategy."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from app.identity.members.eligibility import find_eligible_user_ids
from app.kit.permissions import Role
from app.workflow.assignment.queries.assignees import count_open_artifacts
from app.workflow.assignment.service.recipients import RecipientPool
from app.workflow.routing_rules.queries import people as queries
from app.workflow.routing_rules.queries.people import MembersByTeam
from app.workflow.routing_rules.service.compiled_rules import Rule

# The values of `note` in an outcome.
NO_LABELER = "no_member_can_label"
NO_SKILLS = "no_member_has_the_skills"
USER_CANNOT_LABEL = "user_cannot_label"


@dataclass(frozen=True, slots=True)
class AssigneeChoice:
    """The chosen user or team. If both are None, the document stays in the pool.

    If the document could not be assigned as the rule specifies, `note` is the reason.
    """

    user_id: UUID | None = None
    team_id: UUID | None = None
    note: str | None = None


@dataclass
class AssigneeData:
    """The data that is needed to choose assignees.

    `labeler_ids` contains the ids of the rules' users who can label. `skills` and `loads` have user
    ids as keys; a load is a number of open artifacts. `required_skills` has schema ids as keys.
    """

    members: MembersByTeam
    labeler_ids: set[UUID]
    skills: dict[UUID, frozenset[str]]
    loads: Counter[UUID]
    required_skills: dict[UUID, frozenset[str]]


def load_assignee_data(rules: Iterable[Rule], schema_ids: Iterable[UUID]) -> AssigneeData:
    """Load the data for choosing assignees by these rules, for documents with these schemas.

    The number of SQL statements does not depend on the number of rules. Data that no rule needs is
    not loaded.
    """
    rules = list(rules)
    team_ids_by_strategy: dict[str, set[UUID]] = defaultdict(set)
    for rule in rules:
        if rule.team_id is not None and rule.strategy is not None:
            team_ids_by_strategy[rule.strategy].add(rule.team_id)
    round_robin_team_ids = team_ids_by_strategy["round_robin"]
    least_loaded_team_ids = team_ids_by_strategy["least_loaded"]
    skills_team_ids = team_ids_by_strategy["skills"]
    team_ids = round_robin_team_ids | least_loaded_team_ids | skills_team_ids
    members = queries.get_members_by_team(team_ids) if team_ids else MembersByTeam({}, {})
    skill_candidates = _collect_member_ids(members.nested, skills_team_ids)
    load_candidates = skill_candidates | _collect_member_ids(members.direct, least_loaded_team_ids)
    user_ids = {rule.user_id for rule in rules if rule.user_id}
    return AssigneeData(
        members=members,
        labeler_ids=find_eligible_user_ids(user_ids, Role.labeler) if user_ids else set(),
        skills=queries.get_skills(skill_candidates) if skill_candidates else {},
        loads=Counter(count_open_artifacts(load_candidates) if load_candidates else {}),
        required_skills=queries.get_required_skills(set(schema_ids)) if skills_team_ids else {},
    )


def _collect_member_ids(
    members_by_team: Mapping[UUID, Iterable[UUID]], team_ids: Iterable[UUID]
) -> set[UUID]:
    return {user_id for team_id in team_ids for user_id in members_by_team.get(team_id, ())}


@dataclass
class AssigneeChooser:
    """Chooses assignees for one document after another, and increments the users' loads.

    `last_user_ids` maps the positions of round-robin rules to the ids of the last assigned users.
    """

    data: AssigneeData
    last_user_ids: dict[int, UUID] = field(default_factory=dict)
    _pools: dict[tuple[UUID, frozenset[str] | None], RecipientPool] = field(default_factory=dict)

    def choose(self, rule: Rule, schema_id: UUID | None) -> AssigneeChoice:
        """Choose the assignee for an artifact with this schema, according to a rule's action."""
        if rule.user_id is not None:
            if rule.user_id not in self.data.labeler_ids:
                return AssigneeChoice(note=USER_CANNOT_LABEL)
            return self._choose_user(rule.user_id)
        assert rule.team_id is not None
        if rule.strategy == "round_robin":
            return self._choose_round_robin(rule, rule.team_id)
        if rule.strategy == "least_loaded":
            return self._choose_least_loaded(rule.team_id, None)
        if rule.strategy == "skills":
            required_skills = self.data.required_skills.get(schema_id) if schema_id else None
            return self._choose_least_loaded(rule.team_id, required_skills or frozenset())
        return AssigneeChoice(team_id=rule.team_id)

    def _choose_user(self, user_id: UUID) -> AssigneeChoice:
        self.data.loads[user_id] += 1
        return AssigneeChoice(user_id=user_id)

    def _choose_round_robin(self, rule: Rule, team_id: UUID) -> AssigneeChoice:
        members = self.data.members.direct.get(team_id)
        if not members:
            return AssigneeChoice(team_id=team_id, note=NO_LABELER)
        last_user_id = self.last_user_ids.get(rule.position, rule.cursor_user_id)
        # The next user is the first with an id greater than the last user's id. Members who have
        # joined or left do not change the order.
        index = 0 if last_user_id is None else bisect_right(members, last_user_id) % len(members)
        self.last_user_ids[rule.position] = members[index]
        return self._choose_user(members[index])

    def _choose_least_loaded(
        self, team_id: UUID, required_skills: frozenset[str] | None
    ) -> AssigneeChoice:
        pool = self._pools.get((team_id, required_skills))
        if pool is None:
            pool = RecipientPool(self._list_candidates(team_id, required_skills), self.data.loads)
            self._pools[team_id, required_skills] = pool
        user_id = pool.find_least_loaded()
        if user_id is None and required_skills:
            # If the team were assigned, no member could claim the artifact, and it would not be
            # offered to users outside the team who have the skills.
            return AssigneeChoice(note=NO_SKILLS)
        if user_id is None:
            return AssigneeChoice(team_id=team_id, note=NO_LABELER)
        return self._choose_user(user_id)

    def _list_candidates(self, team_id: UUID, required_skills: frozenset[str] | None) -> list[UUID]:
        members = self.data.members
        if required_skills is None:
            return members.direct.get(team_id, [])
        no_skills: frozenset[str] = frozenset()
        return [
            user_id
            for user_id in members.nested.get(team_id, [])
            if required_skills <= self.data.skills.get(user_id, no_skills)
        ]
