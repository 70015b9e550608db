"""The life of review items, with two reviewers, an admin and a team at work, against a small
model."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from flask import Flask
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from app.kit import db, tenancy
from app.workflow.review_queue.service import unassigning
from tests.factories import make_org
from tests.factories.state_machines import note_request, run_machine
from tests.factories.teams import add_members, make_team
from tests.factories.workspace import Workspace, tag

REVIEWERS = ("reviewer", "second", "admin")
IN_TEAM = "second"
MAX_REJECTIONS = 1
ACTIONS = (
    *("next", "claim", "release", "run_out", "escalate", "submit_again", "accept", "reject"),
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
    status: str = "submitted"
    revision: int = 3
    rejections: int = 0
    claim: str | None = None
    assignee: str | None = None
    escalated: bool = False
    reviewer: str | None = None
    accepted: list[bool] = field(default_factory=list)

    def decided(self, status: str, by: str) -> None:
        """Taken out of the queue by a verdict."""
        self.status, self.reviewer = status, by
        self.revision += 1
        self.claim = self.assignee = None
        self.escalated = False

    def mine(self, who: str) -> bool:
        return self.assignee == who or (self.assignee == "team" and who == IN_TEAM)

    def refusal(self, who: str, *, take_over: bool = False) -> int | None:
        """The status of the refusal to review it now; None where there is none."""
        if self.labeler == who:
            return 403
        if self.claim not in (None, who) and not (take_over and who == "admin"):
            return 409
        free = self.assignee is None or self.mine(who) or who == "admin"
        return None if free else 409


class ReviewItemLife(RuleBasedStateMachine):
    """Every answer and, after each step, the queue are what the model says."""

    flask: Flask

    def __init__(self) -> None:
        super().__init__()
        self.known: list[Item] = []
        self.told = 0
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
        """Whether it went well, as it was to."""
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
        would end without a verdict."""
        item = self.known[number % len(self.known)]
        send_to = "labeler" if likely else "pool"
        {
            "next": lambda: self.next(who),
            "claim": lambda: self.claim(who, item),
            "release": lambda: self.release(who, item),
            "run_out": lambda: self.run_out(item),
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
        item = Item(made["id"], labeler, priority, len(self.known), "A-1")
        self.names[item.id] = f"item-{item.place}-of-{labeler}"
        self.known.append(item)

    def submit_again(self, item: Item) -> None:
        answer = self._post(item.labeler, f"/tag-sets/{item.id}/submit")
        if self._expect(answer, None if item.status == "draft" else 409):
            item.status, item.reviewer = "submitted", None
            item.revision += 1
            item.place = max(one.place for one in self.known) + 1

    def _queue(self) -> list[Item]:
        waiting = [one for one in self.known if one.status == "submitted"]
        return sorted(waiting, key=lambda one: (-one.priority, one.place))

    def next(self, who: str) -> None:
        queue = [one for one in self._queue() if one.labeler != who]
        free = [one for one in queue if one.claim is None]
        places = (
            [one for one in queue if one.claim == who],
            [one for one in free if one.assignee == who],
            [one for one in free if one.mine(who)],
            [one for one in free if one.assignee is None],
        )
        expected = next((found[0] for found in places if found), None)
        answer = self._post(who, "/review-queue/next")
        self._expect(answer, None)
        given = answer.json["data"]
        assert (given and given["id"]) == (expected and expected.id)
        if expected is not None:
            expected.claim = who

    def claim(self, who: str, item: Item) -> None:
        waits = item.status == "submitted"
        refused = item.refusal(who, take_over=True) if waits else 404
        if self._expect(self._post(who, f"/review-queue/{item.id}/claim"), refused):
            item.claim = who

    def release(self, who: str, item: Item) -> None:
        refused = 404 if item.status != "submitted" else None
        if refused is None and item.claim != who:
            refused = 409 if item.claim is None else None if who == "admin" else 403
        if self._expect(self._post(who, f"/review-queue/{item.id}/release"), refused):
            item.claim = None

    def run_out(self, item: Item) -> None:
        self.workspace.sql(
            "UPDATE tag_sets SET claim_expires_at = now() WHERE id = :id AND claim_user_id"
            " IS NOT NULL",
            id=item.id,
        )
        item.claim = None

    def escalate(self, who: str, item: Item, to: str) -> None:
        refused = item.refusal(who, take_over=True) if item.status == "submitted" else 404
        if refused is None and to in (who, item.labeler):
            refused = 400
        if item.status == "submitted" and to == "team" and self.disbanded:
            refused = 400
        whom = {"team_id": self.team} if to == "team" else {"user_id": str(self.org.users[to])}
        body = {"reason": "Two totals?", **whom}
        if self._expect(self._post(who, f"/review-queue/{item.id}/escalate", body), refused):
            item.assignee, item.escalated, item.claim = to, True, None
            self.told += 1

    def _refused(self, who: str, item: Item, revision: int) -> int | None:
        if item.labeler == who:
            return 403
        if item.status != "submitted" or revision != item.revision:
            return 409
        return item.refusal(who)

    def accept(self, who: str, item: Item, corrects: bool, behind: int) -> None:
        revision = item.revision - behind
        value = f"by {who}" if corrects else item.value
        body = {"revision": revision, "tags": [tag("number", value)]}
        answer = self._post(who, f"/tag-sets/{item.id}/accept", body)
        if self._expect(answer, self._refused(who, item, revision)):
            item.accepted.append(value != item.value)
            item.value = value
            item.decided("accepted", who)

    def reject(self, who: str, item: Item, send_to: str, behind: int) -> None:
        revision = item.revision - behind
        refused = self._refused(who, item, revision)
        if refused is None and send_to == "labeler" and item.rejections >= MAX_REJECTIONS:
            refused = 409
        body = {"reason": "No", "send_to": send_to, "revision": revision}
        if self._expect(self._post(who, f"/tag-sets/{item.id}/reject", body), refused):
            item.decided("draft" if send_to == "labeler" else "rejected", who)
            item.rejections += 1

    def again(self, who: str, item: Item, *, escalated: bool) -> None:
        """It goes back to its labeler, who hands it in again; it may have been handed on first."""
        if escalated:
            self.escalate("admin", item, who := "second")
        self.reject(who, item, "labeler", 0)
        self.submit_again(item)

    def accept_all(self, who: str) -> None:
        well = [one for one in self.known if self._refused(who, one, one.revision) is None]
        for item in well:
            item.accepted.append(False)
            item.decided("accepted", who)
        self._all(who, "accept", well)

    def reject_all(self, who: str, send_to: str) -> None:
        back = send_to == "labeler"
        free = [one for one in self.known if self._refused(who, one, one.revision) is None]
        well = [one for one in free if not (back and one.rejections >= MAX_REJECTIONS)]
        for item in well:
            item.decided("draft" if back else "rejected", who)
            item.rejections += 1
        self._all(who, "reject", well, reason="No", send_to=send_to)

    def _all(self, who: str, verdict: str, well: list[Item], **members: str) -> None:
        body = {"tag_set_ids": [one.id for one in self.known], **members}
        answer = self._post(who, f"/review-queue/bulk-{verdict}", body)
        self._expect(answer, None)
        outcomes = answer.json["data"]["outcomes"]
        assert [one["id"] for one in outcomes if one["ok"]] == [one.id for one in well]

    def disband(self, item: Item) -> None:
        """The team is deleted: what was escalated to it is anybody's, and stays escalated."""
        if self.disbanded:
            return
        self.escalate("admin", item, "team")
        answer = self.org.api("admin").delete(f"/teams/{self.team}")
        note_request(self.names, "admin", "DELETE", "/teams/team", None, answer)
        assert answer.status_code == 204, answer.json
        with self.flask.app_context(), tenancy.organization(self.org.id), db.transaction():
            unassigning.unassign_team(UUID(self.team), db.checkpoint, reason="team_deleted")
        self.disbanded = True
        for one in self.known:
            one.assignee = None if one.assignee == "team" else one.assignee

    @invariant()
    def the_queue_is_the_models(self) -> None:
        if not self.known:
            return
        answer = self.org.api("admin").get("/review-queue")
        shown = [
            (
                one["id"],
                one["claim"] and one["claim"]["user_id"],
                one["assignee_id"],
                one["assignee_team_id"],
                one["escalated"],
                "resubmitted" in one["flags"],
            )
            for one in answer.json["data"]
        ]
        assert shown == [self._shown(one) for one in self._queue()]

    def _shown(self, item: Item) -> tuple[Any, ...]:
        ids = {name: str(user_id) for name, user_id in self.org.users.items()}
        team = self.team if item.assignee == "team" else None
        assignee = ids.get(item.assignee or "")
        claim = ids.get(item.claim or "")
        return (item.id, claim, assignee, team, item.escalated, item.rejections > 0)

    def teardown(self) -> None:
        for item in self.known:
            self._check(item)
        if self.known:
            accepted = sorted(one.id for one in self.known for _ in one.accepted)
            told = self.workspace.events("tag_set.accepted")
            assert sorted(one["tag_set_id"] for one in told) == accepted
            assert all(one["reviewer_id"] is not None for one in told)
            assert len(self.workspace.events("reviews.assigned")) == self.told

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
        kept = self.workspace.revisions(item.id)
        assert [one.number for one in kept] == list(range(1, item.revision + 1))
        verdicts = [one.kind for one in kept if one.kind in ("accept", "correction")]
        assert verdicts == ["correction" if corrected else "accept" for corrected in item.accepted]


def test_review_items_live_as_the_model_says(app: Flask) -> None:
    run_machine(type("Life", (ReviewItemLife,), {"flask": app}), examples=LIVES, steps=STEPS)
