"""The life of a document that several label, each for themselves, against a small model: three
labelers, of whom one may leave, two reviewers, an admin, and claims that run out."""

from typing import Any

from flask import Flask
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from app.documents.artifacts.statuses import (
    CLAIMABLE,
    OPEN_FOR_TAG_SETS,
    TRANSITIONS,
    ArtifactStatus,
)
from app.kit import db, tenancy
from app.workflow.assignment.queries import claims as claim_queries
from app.workflow.assignment.service import claims
from app.workflow.tag_sets.transitions import Action
from tests.factories import make_org
from tests.factories.labels import make_field
from tests.factories.state_machines import note_request, run_machine
from tests.factories.workspace import FIELDS, Workspace, tag
from tests.workflow.artifact_model import (
    COUNTED,
    MAX_REJECTIONS,
    REQUIRED_LABELS,
    Document,
    ModelTagSet,
)

LABELERS = ("labeler", "second", "third")
REVIEWERS = ("reviewer", "senior")
ACTIONS = (
    *("next", "claim", "release", "expire_claim", "start", "archive", "discard", "look", "leave"),
    *("label", "save", "submit", "accept", "reject", "reopen", "accept_all", "reject_all", "raise"),
    # What people do most of the time.
    *("label", "label", "crowd", "crowd", "accept", "accept", "accept_all", "reject", "again"),
    *("reopen", "again", "again_all"),
)
LIVES, STEPS = 10, 35


class ArtifactLife(RuleBasedStateMachine):
    """Every answer, and after each step the document and its label sets, are the model's."""

    flask: Flask

    @initialize()
    def open(self) -> None:
        self.org = make_org(self.flask)
        for name in LABELERS[1:]:
            self.org.add_user(name, "labeler")
        self.org.add_user("senior", "reviewer")
        self.workspace = Workspace(self.org)
        policy = {"labels_per_artifact": REQUIRED_LABELS, "max_rejections": MAX_REJECTIONS}
        self.schema_id = self.workspace.schema(**policy)
        self.artifact_id = str(self.workspace.artifact(self.schema_id))
        self.document = Document()
        self.names = {str(user_id): name for name, user_id in self.org.users.items()}
        self.names |= {self.artifact_id: "document", str(self.schema_id): "schema"}
        self.clock = self.version = 0
        self.accepted: list[str] = []

    def _now(self) -> int:
        self.clock += 1
        return self.clock

    def _send(self, who: str, method: str, path: str, body: Any = None) -> Any:
        answer = self.org.api(who).request(method, path, json=body)
        note_request(self.names, who, method, path, body, answer)
        return answer

    def _post(self, who: str, path: str, body: Any = None) -> Any:
        return self._send(who, "POST", path, {} if body is None else body)

    def _expect(self, answer: Any, refused: int | None, well: int = 200) -> bool:
        """Return whether the request succeeded; assert that this is expected."""
        assert answer.status_code == (refused or well), answer.json
        return refused is None

    def _choose_tag_set(self, number: int, *states: str) -> ModelTagSet:
        """A label set, in one of these states more often than not."""
        fitting = [tag_set for tag_set in self.document.tag_sets if tag_set.status in states]
        among = fitting if fitting and number else self.document.tag_sets
        return among[number % len(among)]

    def _claim_if_free(self, who: str) -> None:
        if self.document.claimed_by is None:
            self.document.claimed_by = who

    @rule(
        action=st.sampled_from(ACTIONS),
        who=st.sampled_from(LABELERS),
        reviewer=st.sampled_from(REVIEWERS),
        number=st.integers(min_value=0, max_value=5),
        behind=st.sampled_from((0, 0, 0, 1)),
        to=st.sampled_from(("back", "back", "pool", *LABELERS)),
        likely=st.booleans(),
    )
    def act(
        self,
        action: str,
        who: str,
        reviewer: str,
        number: int,
        behind: int,
        to: str,
        likely: bool,
    ) -> None:
        """One rule for all: of many, hypothesis leaves some out for a whole life, and most lives
        would end without a decision."""
        on_document = {
            "next": lambda: self.next(who),
            "claim": lambda: self.claim(who),
            "release": lambda: self.release(who, None if likely else "Too hard"),
            "expire_claim": lambda: self.expire_claim(cleared=likely),
            "start": lambda: self.start(who),
            "label": lambda: self.label(who),
            "archive": lambda: self.archive(archived=not self.document.archived),
            "crowd": lambda: self.crowd(all_at_once=likely),
            "look": lambda: self.look(who),
            "leave": lambda: self.leave(reviewer),
            "raise": self.raise_version,
        }
        on_labels = {
            "save": lambda: self.save(who, number, behind),
            "submit": lambda: self.submit(number),
            "discard": lambda: self.discard(number),
            "accept": lambda: self.accept(reviewer, number, corrects=likely, behind=behind),
            "reject": lambda: self.reject(reviewer, number, to, behind),
            "reopen": lambda: self.reopen(reviewer, number, behind, back=likely),
            "again": lambda: self.again(reviewer, number, back=likely),
            "again_all": lambda: self.again_all(reviewer),
            "accept_all": lambda: self.accept_all(reviewer),
            "reject_all": lambda: self.reject_all(reviewer, back=likely),
        }
        if who in self.document.removed_members:
            who = LABELERS[0]
        if self.document.archived and likely:
            self.archive(archived=False)
        if action in on_document:
            on_document[action]()
        elif self.document.tag_sets:
            on_labels[action]()

    def next(self, who: str) -> None:
        answer = self._post(who, "/artifacts/next")
        self._expect(answer, None)
        is_claimed = self.document.can_claim_next(who)
        assert (answer.json["data"] or {}).get("id") == (self.artifact_id if is_claimed else None)
        if is_claimed:
            self.document.claimed_by, self.document.status = who, "in_progress"

    def claim(self, who: str) -> None:
        document = self.document
        free = document.claimed_by in (None, who)
        open_for_them = document.status in CLAIMABLE and not document.archived
        kept = document.is_blocked_for(who) or document.has_finished(who)
        refused = None if free and open_for_them and not kept else 409
        if self._expect(self._post(who, f"/artifacts/{self.artifact_id}/claim"), refused):
            document.claimed_by, document.status = who, "in_progress"
            if document.delete_skip(who):
                document.update_status()

    def release(self, who: str, reason: str | None) -> None:
        claimed_by = self.document.claimed_by
        begun = [one for one in self.document.list_by(who, "draft") if one.is_begun]
        refused = None if claimed_by == who or begun else 409 if claimed_by is None else 403
        body = {"reason": reason} if reason else {}
        if self._expect(self._post(who, f"/artifacts/{self.artifact_id}/release", body), refused):
            if reason:
                self.document.skips[who] = self._now()
                self.document.rejected_labelers.discard(who)
            for one in begun:
                one.is_begun = False
            if claimed_by == who:
                self.document.claimed_by = None
            self.document.update_status()

    def expire_claim(self, cleared: bool) -> None:
        self.workspace.sql(
            "UPDATE artifacts SET claim_expires_at = now() WHERE id = :id"
            " AND claim_user_id IS NOT NULL",
            id=self.artifact_id,
        )
        if cleared:
            with (
                self.flask.app_context(),
                tenancy.across_organizations(reason="the job does"),
                db.transaction(),
            ):
                claim_queries.CLAIMABLE_ARTIFACTS.expire_claims()
            is_claimed = self.document.claimed_by is not None
            if is_claimed and self.document.status == "in_progress":
                drafts = self.document.count("draft", *COUNTED)
                self.document.status = "in_progress" if drafts else "ready"
        self.document.claimed_by = None

    def start(self, who: str) -> None:
        document = self.document
        closed = document.archived or document.status not in OPEN_FOR_TAG_SETS
        has = document.list_by(who, "draft", *COUNTED)
        enough = document.count(*COUNTED) >= REQUIRED_LABELS or document.is_blocked_for(who)
        refused = 409 if closed or has or enough else None
        answer = self._post(who, f"/artifacts/{self.artifact_id}/tag-sets")
        if self._expect(answer, refused, 201):
            before = [
                tag_set.rejections + tag_set.earlier_rejections
                for tag_set in document.tag_sets
                if tag_set.labeler == who
            ]
            made = ModelTagSet(
                answer.json["data"]["id"],
                who,
                self._now(),
                earlier_rejections=max(before, default=0),
            )
            self._add(made)
            self._claim_if_free(who)
            document.update_status()

    def _add(self, made: ModelTagSet) -> None:
        made.note("create")
        self.names[made.id] = f"labels-{len(self.names)}-of-{made.labeler}"
        self.document.tag_sets.append(made)

    def _expect_forbidden(self, answer: Any) -> None:
        """A draft of somebody else is not theirs to change, and hidden from who labels blind."""
        assert answer.status_code in (403, 404), answer.json

    def label(self, who: str) -> None:
        """What people do all day, each step of it as it may go."""
        self.next(who)
        self.start(who)
        own = self.document.list_by(who, "draft")
        if own:
            self._save(own[0], who, behind=0)
            self._submit(own[0])

    def crowd(self, *, all_at_once: bool) -> None:
        """More begin than are wanted, and all of them come to an end; or one after the other."""
        people = [who for who in LABELERS if who not in self.document.removed_members]
        for who in people if all_at_once else []:
            self.start(who)
        for who in people:
            self.start(who)
            self.look(who)
            for tag_set in self.document.list_by(who, "draft"):
                self._save(tag_set, who, behind=0)
                self._save(tag_set, who, behind=1)
                self._submit(tag_set)
        for tag_set in self.document.list_by(LABELERS[0], "submitted"):
            self._reject(tag_set, REVIEWERS[0], LABELERS[1], behind=0)

    def again(self, reviewer: str, number: int, *, back: bool) -> None:
        """It goes back to its labeler, who hands it in again; or to somebody else, or else to the
        pool, which is undone."""
        tag_set = self._choose_tag_set(number, "submitted")
        if tag_set.status == "submitted" and tag_set.labeler not in self.document.removed_members:
            others = [labeler for labeler in LABELERS if labeler != tag_set.labeler]
            self._reject(tag_set, reviewer, "back" if back else others[number % 2], behind=0)
            if back:
                self._submit(tag_set)
            else:
                self._reject(tag_set, reviewer, "pool", behind=0)
                self._reopen(tag_set, reviewer, behind=0, back=False)

    def again_all(self, reviewer: str) -> None:
        """The same by bulk."""
        self.reject_all(reviewer, back=True)
        for tag_set in self.document.tag_sets:
            if tag_set.status == "draft":
                self._submit(tag_set)

    def save(self, who: str, number: int, behind: int) -> None:
        tag_set = self._choose_tag_set(number, "draft")
        own = number % 2 and tag_set.labeler not in self.document.removed_members
        self._save(tag_set, tag_set.labeler if own else who, behind=behind)

    def _save(self, tag_set: ModelTagSet, who: str, *, behind: int) -> None:
        value = f"{who} {self._now()}"
        body = {"tags": [tag("number", value)], "revision": tag_set.revision - behind}
        answer = self._send(who, "PUT", f"/tag-sets/{tag_set.id}/tags", body)
        if tag_set.labeler != who:
            self._expect_forbidden(answer)
        elif self._expect(answer, 409 if behind or not tag_set.allows(Action.SAVE) else None):
            tag_set.value = value
            tag_set.note("save")
            tag_set.is_begun = True
            if not self.document.archived:
                self._claim_if_free(who)
                if who not in self.document.reserved_for:
                    self.document.reserved_for.append(who)

    def submit(self, number: int) -> None:
        self._submit(self._choose_tag_set(number, "draft"))

    def _submit(self, tag_set: ModelTagSet) -> None:
        refused = (
            409 if not tag_set.allows(Action.SUBMIT) else 400 if tag_set.value is None else None
        )
        if tag_set.labeler in self.document.removed_members:
            refused = 403
        answer = self._post(tag_set.labeler, f"/tag-sets/{tag_set.id}/submit")
        if self._expect(answer, refused):
            tag_set.status, tag_set.is_returned, tag_set.reviewer = "submitted", False, None
            tag_set.submitted, tag_set.decided = True, 0
            tag_set.note("submit")
            self._release_claim(tag_set.labeler)

    def _release_claim(self, who: str) -> None:
        if self.document.claimed_by == who:
            self.document.claimed_by = None
        self.document.update_status()

    def discard(self, number: int) -> None:
        tag_set = self._choose_tag_set(number)
        refused = 409 if not tag_set.allows(Action.DELETE) or tag_set.submitted else None
        if tag_set.labeler in self.document.removed_members:
            refused = 403
        answer = self._send(tag_set.labeler, "DELETE", f"/tag-sets/{tag_set.id}")
        if self._expect(answer, refused, 204):
            self.document.tag_sets.remove(tag_set)
            self._release_claim(tag_set.labeler)

    def accept(self, who: str, number: int, corrects: bool, behind: int) -> None:
        tag_set = self._choose_tag_set(number, "submitted")
        enough = self.document.count("accepted") >= REQUIRED_LABELS
        refused = 409 if not tag_set.allows(Action.ACCEPT) or behind or enough else None
        value = f"{who} {self._now()}" if corrects else tag_set.value or "x"
        body = {"tags": [tag("number", value)], "revision": tag_set.revision - behind}
        if self._expect(self._post(who, f"/tag-sets/{tag_set.id}/accept", body), refused):
            tag_set.value, tag_set.status, tag_set.reviewer = value, "accepted", who
            tag_set.note("correction" if corrects else "accept")
            self.accepted.append(tag_set.id)
            self.document.update_status()

    def reject(self, who: str, number: int, to: str, behind: int) -> None:
        self._reject(self._choose_tag_set(number, "submitted"), who, to, behind)

    def _reject(self, tag_set: ModelTagSet, who: str, to: str, behind: int) -> None:
        next_labeler = None if to == "pool" else tag_set.labeler if to == "back" else to
        back = next_labeler == tag_set.labeler
        refused = 409 if not tag_set.allows(Action.REJECT) or behind else None
        if next_labeler in self.document.removed_members and refused is None:
            refused = 400
        if next_labeler is not None and refused is None:
            spent = back and tag_set.is_at_rejection_limit
            has = [
                one
                for one in self.document.list_by(next_labeler, "draft", *COUNTED)
                if one is not tag_set
            ]
            refused = 409 if spent or has else None
        send_to = str(self.org.users[to]) if to in LABELERS else {"back": "labeler"}.get(to, to)
        body = {"reason": "No", "send_to": send_to, "revision": tag_set.revision - behind}
        if self._expect(self._post(who, f"/tag-sets/{tag_set.id}/reject", body), refused):
            tag_set.status, tag_set.reviewer = "draft" if back else "rejected", who
            tag_set.rejections += 1
            tag_set.is_returned, tag_set.decided = back, self._now()
            tag_set.note("reject")
            if next_labeler is not None:
                self._transfer(tag_set, next_labeler)
            else:
                self._exclude_labeler(tag_set)
            self.document.update_status()

    def _exclude_labeler(self, tag_set: ModelTagSet) -> None:
        """Its labeler does not get it again by `next`; a skip of theirs stands."""
        if tag_set.labeler not in self.document.skips:
            self.document.rejected_labelers.add(tag_set.labeler)

    def _transfer(self, tag_set: ModelTagSet, next_labeler: str) -> None:
        self._claim_if_free(next_labeler)
        if next_labeler == tag_set.labeler:
            return
        rows = self.workspace.sql(
            "SELECT id FROM tag_sets WHERE artifact_id = :id AND labeler_id = :next_labeler"
            " AND status = 'draft'",
            id=self.artifact_id,
            next_labeler=self.org.users[next_labeler],
        )
        rejections = tag_set.rejections + tag_set.earlier_rejections
        draft = ModelTagSet(
            str(rows[0].id),
            next_labeler,
            self._now(),
            value=tag_set.value,
            is_returned=True,
            earlier_rejections=rejections,
        )
        self._add(draft)

    def reopen(self, who: str, number: int, behind: int, *, back: bool) -> None:
        self._reopen(self._choose_tag_set(number, "accepted", "rejected"), who, behind, back=back)

    def _reopen(self, tag_set: ModelTagSet, who: str, behind: int, *, back: bool) -> None:
        document = self.document
        others = document.list_by(tag_set.labeler, "draft", *COUNTED)
        full = tag_set.status == "rejected" and document.count(*COUNTED) >= REQUIRED_LABELS
        has = any(other is not tag_set for other in others)
        decided = tag_set.allows(Action.REOPEN)
        refused = None if decided and not (behind or full or has) else 409
        if refused is None or not (behind or full):
            gone = decided and back and not behind and not full
            refused = 400 if gone and tag_set.labeler in document.removed_members else refused
        body = {
            "reason": "Look again",
            "to": "labeler" if back else "review",
            "revision": tag_set.revision - behind,
        }
        if self._expect(self._post(who, f"/tag-sets/{tag_set.id}/reopen", body), refused):
            tag_set.status, tag_set.reviewer = ("draft", who) if back else ("submitted", None)
            tag_set.is_returned, tag_set.decided = back, 0
            tag_set.note("reopen")
            if back:
                self._claim_if_free(tag_set.labeler)
                document.delete_skip(tag_set.labeler)
            document.update_status()

    def archive(self, archived: bool) -> None:
        document = self.document
        path = f"/artifacts/{self.artifact_id}"
        self._expect(self._send("admin", "PATCH", path, {"archived": archived}), None)
        if archived != document.archived:
            document.archived = archived
            document.claimed_by = None if archived else document.claimed_by
            document.update_status()

    def accept_all(self, who: str) -> None:
        """One after the other, but in one call: those before one count for it."""
        well = []
        for tag_set in self.document.tag_sets:
            if tag_set.status == "submitted" and self.document.count("accepted") < REQUIRED_LABELS:
                tag_set.status, tag_set.reviewer = "accepted", who
                tag_set.note("accept")
                well.append(tag_set.id)
        self._all(who, "accept", well)
        self.accepted += well

    def reject_all(self, who: str, *, back: bool) -> None:
        well, document = [], self.document
        for tag_set in document.tag_sets:
            others = document.list_by(tag_set.labeler, "draft", *COUNTED)
            in_the_way = [other for other in others if other is not tag_set]
            spent = tag_set.is_at_rejection_limit or tag_set.labeler in document.removed_members
            if tag_set.status != "submitted" or (back and (spent or in_the_way)):
                continue
            tag_set.status, tag_set.reviewer = "draft" if back else "rejected", who
            tag_set.rejections += 1
            tag_set.is_returned, tag_set.decided = back, self._now()
            tag_set.note("reject")
            well.append(tag_set.id)
            if back:
                self._claim_if_free(tag_set.labeler)
            else:
                self._exclude_labeler(tag_set)
        send_to = "labeler" if back else "pool"
        self._all(who, "reject", well, reason="No", send_to=send_to)

    def _all(self, who: str, action: str, well: list[str], **members: str) -> None:
        ids = [tag_set.id for tag_set in self.document.tag_sets]
        body = {"tag_set_ids": ids, **members}
        answer = self._post(who, f"/review-queue/bulk-{action}", body)
        self._expect(answer, None)
        assert [
            outcome["id"] for outcome in answer.json["data"]["outcomes"] if outcome["ok"]
        ] == well
        if well:
            self.document.update_status()

    def look(self, who: str) -> None:
        """Labelers label blind until they have submitted a label set of the document, and never see
        others' drafts."""
        done = any(one.submitted for one in self.document.tag_sets if one.labeler == who)
        shown = {
            one.id
            for one in self.document.tag_sets
            if one.labeler == who or (done and one.status != "draft")
        }
        listed = self._send(who, "GET", f"/tag-sets?artifact_id={self.artifact_id}")
        assert {record["id"] for record in listed.json["data"]} == shown
        for tag_set in self.document.tag_sets:
            one = self._send(who, "GET", f"/tag-sets/{tag_set.id}")
            self._expect(one, None if tag_set.id in shown else 404)

    def leave(self, reviewer: str) -> None:
        """The last of the labelers leaves the organization, with work in hand where there is any;
        their label sets stay."""
        who, document = LABELERS[-1], self.document
        if who in document.removed_members or not document.tag_sets:
            return
        for tag_set in document.list_by(who, "submitted"):
            self._reject(tag_set, reviewer, "back", behind=0)
        self.claim(who)
        path = f"/organizations/{self.org.slug}/members/{self.org.users[who]}"
        self._expect(self._send("admin", "DELETE", path), None, 204)
        user_id = self.org.users[who]
        with self.workspace.transaction():
            claims.release_all_claims(user_id, reason="member_removed")
            claims.release_reservations(user_id, db.checkpoint)
        document.removed_members.add(who)
        reserved = who in document.reserved_for
        if document.claimed_by == who:
            document.claimed_by = None
            if document.status == "in_progress" and not document.count("draft", *COUNTED):
                document.status = "ready"
        if reserved:
            document.update_status()

    def raise_version(self) -> None:
        """A version with one more field: what was begun goes on by the one that it began with."""
        self.version += 1
        fields = [*FIELDS, *(make_field(f"more_{n}", "text") for n in range(self.version))]
        path = f"/schemas/{self.schema_id}"
        body = {"fields": fields, "revision": 2 * self.version - 1}
        self._expect(self._send("admin", "PATCH", path, body), None)
        self._expect(self._post("admin", f"{path}/publish"), None, 201)

    def _check_statuses(self) -> None:
        """Check that each change of status that the audit log recorded is one of the table."""
        log = f"/organizations/{self.org.slug}/audit-log?target_id={self.artifact_id}"
        entries = self.org.api("admin").get(f"{log}&page_size=200").json["data"]
        for entry in entries:
            before, after = (entry["changes"] or {}).get("status") or (None, None)
            if before is not None and after is not None:
                assert ArtifactStatus(after) in TRANSITIONS[ArtifactStatus(before)], (before, after)

    @invariant()
    def the_document_is_the_models(self) -> None:
        row = self.org.api("admin").get(f"/artifacts/{self.artifact_id}").json["data"]
        states = ("draft", "submitted", "accepted", "rejected")
        assert row["label_counts"] == {state: self.document.count(state) for state in states}
        assert (row["status"], row["archived"]) == (self.document.status, self.document.archived)
        claimed_by = self.document.claimed_by and str(self.org.users[self.document.claimed_by])
        assert (row["claim"] and row["claim"]["user_id"]) == claimed_by
        # The columns that the queries for the next document use.
        statement = "SELECT labeled_by, reserved_for FROM artifacts WHERE id = :id"
        (kept,) = self.workspace.sql(statement, id=self.artifact_id)
        for ids, names in zip(
            kept, (self.document.labeled_by, self.document.reserved_for), strict=False
        ):
            assert sorted(map(str, ids)) == sorted(str(self.org.users[name]) for name in names)

    @invariant()
    def the_label_sets_are_the_models(self) -> None:
        rows = self.org.api("admin").get(f"/tag-sets?artifact_id={self.artifact_id}").json["data"]
        shown = {
            row["id"]: (
                row["labeler"]["id"],
                row["status"],
                row["revision"],
                [one["value"] for one in row["tags"]],
                row["reviewer"] and row["reviewer"]["id"],
            )
            for row in rows
        }
        assert shown == {tag_set.id: self._shown(tag_set) for tag_set in self.document.tag_sets}

    def _shown(self, tag_set: ModelTagSet) -> tuple[Any, ...]:
        ids = {name: str(user_id) for name, user_id in self.org.users.items()}
        values = [] if tag_set.value is None else [tag_set.value]
        reviewer = ids.get(tag_set.reviewer or "")
        return (ids[tag_set.labeler], tag_set.status, tag_set.revision, values, reviewer)

    def teardown(self) -> None:
        """Each revision holds what was saved then, and each acceptance by a reviewer emitted
        one event."""
        for tag_set in self.document.tag_sets:
            revisions = self.workspace.revisions(tag_set.id)
            assert [row.number for row in revisions] == list(range(1, tag_set.revision + 1))
            values = [row.tags[0]["value"] if row.tags else None for row in revisions]
            assert [*zip([row.kind for row in revisions], values, strict=True)] == tag_set.revisions
        accepted_events = self.workspace.events("tag_set.accepted")
        assert [accepted_event["tag_set_id"] for accepted_event in accepted_events] == self.accepted
        assert all(accepted_event["reviewer_id"] is not None for accepted_event in accepted_events)
        self._check_statuses()


def test_a_document_lives_as_the_model_says(app: Flask) -> None:
    run_machine(type("Life", (ArtifactLife,), {"flask": app}), examples=LIVES, steps=STEPS)
