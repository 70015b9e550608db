"""The life of review items, with two reviewers, an admin and a team at work, against a small
model."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from flask import Flask
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from app.kit import db
from app.workflow.review_queue.service import unassigning
from app.workflow.tag_sets.transitions import TRANSITIONS, Action, TagSetStatus
from tests.factories import make_org
from tests.factories.state_machines import note_request, run_machine
from tests.factories.teams import add_members, make_team
from tests.factories.workspace import Workspace, tag

REVIEWERS = ("reviewer", "second", "admin")
IN_TEAM = "second"
MAX_REJECTIONS = 1
REJECTED_TO = {"labeler": TagSetStatus.DRAFT, "pool": TagSetStatus.REJECTED}
ACTIONS = (
    *("next", "claim", "release", "expire_claim", "escalate", "submit_again", "accept", "reject"),
    *("next", "claim", "escalate", "submit_again", "accept_all", "reject_all", "disband"),
    *("again", "again", "escalate", "claim"),
)
LIVES, STEPS = 10, 30


@dataclass
class Item:
    """What the model knows of a label set. `assignee` is a name, or `team`."""

    id: str
    labeler: str
    priority: int
    place: int
    value: str
    status: TagSetStatus = TagSetStatus.SUBMITTED
    revision: int = 3
    rejections: int = 0
    claimed_by: str | None = None
    assignee: str | None = None
    escalated: bool = False
    reviewer: str | None = None
    accepted: list[bool] = field(default_factory=list)

    def allows(self, action: Action) -> bool:
        """Return whether the status allows an action."""
        return self.status in TRANSITIONS[action].sources

    @property
    def is_pending(self) -> bool:
        """Return whether it is in the queue, which has the tag sets that can be decided."""
        return self.allows(Action.ACCEPT)

    def change_status(self, action: Action, status: TagSetStatus, by: str | None) -> None:
        """Change the status by an action of the table."""
        assert self.allows(action)
        assert status in TRANSITIONS[action].targets
        self.status, self.reviewer = status, by
        self.revision += 1

    def set_decision(self, action: Action, status: TagSetStatus, by: str) -> None:
        """Record a review decision, which removes the item from the queue."""
        self.change_status(action, status, by)
        self.claimed_by = self.assignee = None
        self.escalated = False

    def is_assigned_to(self, who: str) -> bool:
        return self.assignee == who or (self.assignee == "team" and who == IN_TEAM)

    def get_refusal_status(self, who: str, *, take_over: bool = False) -> int | None:
        """The status of the refusal to review it now; None where there is none."""
        if self.labeler == who:
            return 403
        if self.claimed_by not in (None, who) and not (take_over and who == "admin"):
            return 409
        free = self.assignee is None or self.is_assigned_to(who) or who == "admin"
        return None if free else 409


class ReviewItemLife(RuleBasedStateMachine):
    """Every answer and, after each step, the queue are what the model says."""

    flask: Flask

    def __init__(self) -> None:
        super().__init__()
        self.items: list[Item] = []
        self.escalation_count = 0
        self.disbanded = False

    @initialize(
        begun=st.lists(
            st.tuples(st.sampled_from(("labeler", "reviewer")), st.sampled_from((10, 50, 90))),
            min_size=3,
            max_size=5,
        )
    )
    def open(self, begun: list[tuple[str, int]]) -> None:
        self.org = make_org(self.flask)
        self.org.add_user("second", "reviewer")
        self.workspace = Workspace(self.org)
        self.schema_id = self.workspace.schema(max_rejections=MAX_REJECTIONS)
        self.team = add_members(self.org, make_team(self.org), IN_TEAM, "labeler")["id"]
        self.names = {str(user_id): name for name, user_id in self.org.users.items()}
        self.names[self.team] = "team"
        for labeler, priority in begun:
            self.submit(labeler, priority)

    def _post(self, who: str, path: str, body: Any = None) -> Any:
        answer = self.org.api(who).post(path, json={} if body is None else body)
        note_request(self.names, who, "POST", path, body, answer)
        return answer

    def _expect(self, answer: Any, refused: int | None) -> bool:
        """Return whether the request succeeded; assert that this is expected."""
        assert answer.status_code == (refused or 200), answer.json
        return refused is None

    @rule(
        action=st.sampled_from(ACTIONS),
        who=st.sampled_from(REVIEWERS),
        number=st.integers(min_value=0, max_value=5),
        behind=st.sampled_from((0, 0, 0, 1)),
        to=st.sampled_from((*REVIEWERS, "team", "team")),
        likely=st.booleans(),
    )
    def act(self, action: str, who: str, number: int, behind: int, to: str, likely: bool) -> None:
        """One rule for all: of many, hypothesis leaves some out for a whole life, and most lives
        would end without a decision."""
        item = self.items[number % len(self.items)]
        send_to = "labeler" if likely else "pool"
        {
            "next": lambda: self.next(who),
            "claim": lambda: self.claim(who, item),
            "release": lambda: self.release(who, item),
            "expire_claim": lambda: self.expire_claim(item),
            "escalate": lambda: self.escalate(who, item, to),
            "submit_again": lambda: self.submit_again(item),
            "accept": lambda: self.accept(who, item, corrects=likely, behind=behind),
            "reject": lambda: self.reject(who, item, send_to, behind),
            "accept_all": lambda: self.accept_all(who),
            "reject_all": lambda: self.reject_all(who, send_to),
            "again": lambda: self.again(who, item, escalated=likely),
            "disband": lambda: self.disband(item) if number % 2 else None,
        }[action]()

    def submit(self, labeler: str, priority: int) -> None:
        artifact_id = self.workspace.artifact(self.schema_id, priority=priority)
        made = self.workspace.submitted(artifact_id, by=labeler)
        item = Item(made["id"], labeler, priority, len(self.items), "A-1")
        self.names[item.id] = f"item-{item.place}-of-{labeler}"
        self.items.append(item)

    def submit_again(self, item: Item) -> None:
        answer = self._post(item.labeler, f"/tag-sets/{item.id}/submit")
        if self._expect(answer, None if item.allows(Action.SUBMIT) else 409):
            item.change_status(Action.SUBMIT, TagSetStatus.SUBMITTED, None)
            item.place = max(one.place for one in self.items) + 1

    def _list_queue(self) -> list[Item]:
        waiting = [item for item in self.items if item.is_pending]
        return sorted(waiting, key=lambda one: (-one.priority, one.place))

    def next(self, who: str) -> None:
        queue = [one for one in self._list_queue() if one.labeler != who]
        free = [one for one in queue if one.claimed_by is None]
        places = (
            [one for one in queue if one.claimed_by == who],
            [one for one in free if one.assignee == who],
            [one for one in free if one.is_assigned_to(who)],
            [one for one in free if one.assignee is None],
        )
        expected = next((found[0] for found in places if found), None)
        answer = self._post(who, "/review-queue/next")
        self._expect(answer, None)
        given = answer.json["data"]
        assert (given and given["id"]) == (expected and expected.id)
        if expected is not None:
            expected.claimed_by = who

    def claim(self, who: str, item: Item) -> None:
        refused = item.get_refusal_status(who, take_over=True) if item.is_pending else 404
        if self._expect(self._post(who, f"/review-queue/{item.id}/claim"), refused):
            item.claimed_by = who

    def release(self, who: str, item: Item) -> None:
        refused = None if item.is_pending else 404
        if refused is None and item.claimed_by != who:
            refused = 409 if item.claimed_by is None else None if who == "admin" else 403
        if self._expect(self._post(who, f"/review-queue/{item.id}/release"), refused):
            item.claimed_by = None

    def expire_claim(self, item: Item) -> None:
        self.workspace.sql(
            "UPDATE tag_sets SET claim_expires_at = now() WHERE id = :id AND claim_user_id"
            " IS NOT NULL",
            id=item.id,
        )
        item.claimed_by = None

    def escalate(self, who: str, item: Item, to: str) -> None:
        refused = item.get_refusal_status(who, take_over=True) if item.is_pending else 404
        if refused is None and to in (who, item.labeler):
            refused = 400
        if item.is_pending and to == "team" and self.disbanded:
            refused = 400
        whom = {"team_id": self.team} if to == "team" else {"user_id": str(self.org.users[to])}
        body = {"reason": "Two totals?", **whom}
        if self._expect(self._post(who, f"/review-queue/{item.id}/escalate", body), refused):
            item.assignee, item.escalated, item.claimed_by = to, True, None
            self.escalation_count += 1

    def _refused(self, who: str, item: Item, revision: int) -> int | None:
        if item.labeler == who:
            return 403
        if not item.is_pending or revision != item.revision:
            return 409
        return item.get_refusal_status(who)

    def accept(self, who: str, item: Item, corrects: bool, behind: int) -> None:
        revision = item.revision - behind
        value = f"by {who}" if corrects else item.value
        body = {"revision": revision, "tags": [tag("number", value)]}
        answer = self._post(who, f"/tag-sets/{item.id}/accept", body)
        if self._expect(answer, self._refused(who, item, revision)):
            item.accepted.append(value != item.value)
            item.value = value
            item.set_decision(Action.ACCEPT, TagSetStatus.ACCEPTED, who)

    def reject(self, who: str, item: Item, send_to: str, behind: int) -> None:
        revision = item.revision - behind
        refused = self._refused(who, item, revision)
        if refused is None and send_to == "labeler" and item.rejections >= MAX_REJECTIONS:
            refused = 409
        body = {"reason": "No", "send_to": send_to, "revision": revision}
        if self._expect(self._post(who, f"/tag-sets/{item.id}/reject", body), refused):
            item.set_decision(Action.REJECT, REJECTED_TO[send_to], who)
            item.rejections += 1

    def again(self, who: str, item: Item, *, escalated: bool) -> None:
        """It goes back to its labeler, who hands it in again; it may have been handed on first."""
        if escalated:
            self.escalate("admin", item, who := "second")
        self.reject(who, item, "labeler", 0)
        self.submit_again(item)

    def accept_all(self, who: str) -> None:
        changed_items = [one for one in self.items if self._refused(who, one, one.revision) is None]
        for item in changed_items:
            item.accepted.append(False)
            item.set_decision(Action.ACCEPT, TagSetStatus.ACCEPTED, who)
        self._all(who, "accept", changed_items)

    def reject_all(self, who: str, send_to: str) -> None:
        back = send_to == "labeler"
        free = [one for one in self.items if self._refused(who, one, one.revision) is None]
        changed_items = [one for one in free if not (back and one.rejections >= MAX_REJECTIONS)]
        for item in changed_items:
            item.set_decision(Action.REJECT, REJECTED_TO[send_to], who)
            item.rejections += 1
        self._all(who, "reject", changed_items, reason="No", send_to=send_to)

    def _all(self, who: str, action: str, changed_items: list[Item], **members: str) -> None:
        body = {"tag_set_ids": [item.id for item in self.items], **members}
        answer = self._post(who, f"/review-queue/bulk-{action}", body)
        self._expect(answer, None)
        outcomes = answer.json["data"]["outcomes"]
        assert [outcome["id"] for outcome in outcomes if outcome["ok"]] == [
            changed_item.id for changed_item in changed_items
        ]

    def disband(self, item: Item) -> None:
        """The team is deleted: what was escalated to it is anybody's, and stays escalated."""
        if self.disbanded:
            return
        self.escalate("admin", item, "team")
        answer = self.org.api("admin").delete(f"/teams/{self.team}")
        note_request(self.names, "admin", "DELETE", "/teams/team", None, answer)
        assert answer.status_code == 204, answer.json
        with self.workspace.transaction():
            unassigning.unassign_team(UUID(self.team), db.checkpoint, reason="team_deleted")
        self.disbanded = True
        for one in self.items:
            one.assignee = None if one.assignee == "team" else one.assignee

    @invariant()
    def the_queue_is_the_models(self) -> None:
        if not self.items:
            return
        answer = self.org.api("admin").get("/review-queue")
        shown = [
            (
                record["id"],
                record["claim"] and record["claim"]["user_id"],
                record["assignee_id"],
                record["assignee_team_id"],
                record["escalated"],
                "resubmitted" in record["flags"],
            )
            for record in answer.json["data"]
        ]
        assert shown == [self._shown(one) for one in self._list_queue()]

    def _shown(self, item: Item) -> tuple[Any, ...]:
        ids = {name: str(user_id) for name, user_id in self.org.users.items()}
        team = self.team if item.assignee == "team" else None
        assignee = ids.get(item.assignee or "")
        claim = ids.get(item.claimed_by or "")
        return (item.id, claim, assignee, team, item.escalated, item.rejections > 0)

    def teardown(self) -> None:
        for item in self.items:
            self._check(item)
        if self.items:
            accepted = sorted(one.id for one in self.items for _ in one.accepted)
            events = self.workspace.events("tag_set.accepted")
            assert sorted(event["tag_set_id"] for event in events) == accepted
            assert all(event["reviewer_id"] is not None for event in events)
            assert len(self.workspace.events("reviews.assigned")) == self.escalation_count

    def _check(self, item: Item) -> None:
        row = self.org.api("admin").get(f"/tag-sets/{item.id}").json["data"]
        reviewer = row["reviewer"] and row["reviewer"]["id"]
        expected = str(self.org.users[item.reviewer]) if item.reviewer else None
        assert (row["status"], row["revision"], row["rejections"], reviewer) == (
            item.status,
            item.revision,
            item.rejections,
            expected,
        )
        assert [one["value"] for one in row["tags"]] == [item.value]
        revisions = self.workspace.revisions(item.id)
        assert [revision.number for revision in revisions] == list(range(1, item.revision + 1))
        decision_kinds = [
            revision.kind for revision in revisions if revision.kind in ("accept", "correction")
        ]
        assert decision_kinds == [
            "correction" if corrected else "accept" for corrected in item.accepted
        ]


def test_review_items_live_as_the_model_says(app: Flask) -> None:
    run_machine(type("Life", (ReviewItemLife,), {"flask": app}), examples=LIVES, steps=STEPS)
