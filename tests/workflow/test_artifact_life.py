"""The life of a document that several label, each for themselves, against a small model: three
labelers, of whom one may leave, two reviewers, an admin, and claims that run out."""

from typing import Any

from flask import Flask
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from app.documents.artifacts.statuses import TRANSITIONS, ArtifactStatus
from app.kit import db, tenancy
from app.workflow.assignment.queries import claims as claim_queries
from app.workflow.assignment.service import claims
from app.workflow.tag_sets.transitions import Action
from tests.factories import make_org
from tests.factories.labels import make_field
from tests.factories.state_machines import note_request, run_machine
from tests.factories.workspace import FIELDS, Workspace, tag
from tests.workflow.artifact_model import (
    MAX_REJECTIONS,
    OPEN,
    STANDING,
    WANTED,
    Document,
    Labels,
)

LABELERS = ("labeler", "second", "third")
REVIEWERS = ("reviewer", "senior")
ACTIONS = (
    *("next", "claim", "release", "run_out", "start", "archive", "discard", "look", "leave"),
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
        policy = {"labels_per_artifact": WANTED, "max_rejections": MAX_REJECTIONS}
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
        """Whether it went well, as it was to."""
        assert answer.status_code == (refused or well), answer.json
        return refused is None

    def _some(self, number: int, *states: str) -> Labels:
        """A label set, in one of these states more often than not."""
        fitting = [one for one in self.document.sets if one.status in states]
        among = fitting if fitting and number else self.document.sets
        return among[number % len(among)]

    def _take(self, who: str) -> None:
        if self.document.holder is None:
            self.document.holder = who

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
        would end without a verdict."""
        on_document = {
            "next": lambda: self.next(who),
            "claim": lambda: self.claim(who),
            "release": lambda: self.release(who, None if likely else "Too hard"),
            "run_out": lambda: self.run_out(cleared=likely),
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
        if who in self.document.gone:
            who = LABELERS[0]
        if self.document.archived and likely:
            self.archive(archived=False)
        if action in on_document:
            on_document[action]()
        elif self.document.sets:
            on_labels[action]()

    def next(self, who: str) -> None:
        answer = self._post(who, "/artifacts/next")
        self._expect(answer, None)
        drawn = self.document.drawn_by(who)
        assert (answer.json["data"] or {}).get("id") == (self.artifact_id if drawn else None)
        if drawn:
            self.document.holder, self.document.status = who, "in_progress"

    def claim(self, who: str) -> None:
        document = self.document
        free = document.holder in (None, who)
        open_for_them = document.status in OPEN and not document.archived
        kept = document.kept_from(who) or document.finished_by(who)
        refused = None if free and open_for_them and not kept else 409
        if self._expect(self._post(who, f"/artifacts/{self.artifact_id}/claim"), refused):
            document.holder, document.status = who, "in_progress"
            if document.unskip(who):
                document.follow()

    def release(self, who: str, reason: str | None) -> None:
        holder = self.document.holder
        begun = [one for one in self.document.of(who, "draft") if one.begun]
        refused = None if holder == who or begun else 409 if holder is None else 403
        body = {"reason": reason} if reason else {}
        if self._expect(self._post(who, f"/artifacts/{self.artifact_id}/release", body), refused):
            if reason:
                self.document.skips[who] = self._now()
                self.document.passed_over.discard(who)
            for one in begun:
                one.begun = False
            if holder == who:
                self.document.holder = None
            self.document.follow()

    def run_out(self, cleared: bool) -> None:
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
                claim_queries.expire_claims()
            held = self.document.holder is not None
            if held and self.document.status == "in_progress":
                drafts = self.document.count("draft", *STANDING)
                self.document.status = "in_progress" if drafts else "ready"
        self.document.holder = None

    def start(self, who: str) -> None:
        document = self.document
        closed = document.archived or document.status not in (*OPEN, "in_review")
        has = document.of(who, "draft", *STANDING)
        enough = document.count(*STANDING) >= WANTED or document.kept_from(who)
        refused = 409 if closed or has or enough else None
        answer = self._post(who, f"/artifacts/{self.artifact_id}/tag-sets")
        if self._expect(answer, refused, 201):
            before = [one.rejections + one.earlier for one in document.sets if one.labeler == who]
            made = Labels(
                answer.json["data"]["id"], who, self._now(), earlier=max(before, default=0)
            )
            self._add(made)
            self._take(who)
            document.follow()

    def _add(self, made: Labels) -> None:
        made.note("create")
        self.names[made.id] = f"labels-{len(self.names)}-of-{made.labeler}"
        self.document.sets.append(made)

    def _others(self, who: str, answer: Any) -> None:
        """A draft of somebody else is not theirs to change, and hidden from who labels blind."""
        assert answer.status_code in (403, 404), answer.json

    def label(self, who: str) -> None:
        """What people do all day, each step of it as it may go."""
        self.next(who)
        self.start(who)
        own = self.document.of(who, "draft")
        if own:
            self._save(own[0], who, behind=0)
            self._submit(own[0])

    def crowd(self, *, all_at_once: bool) -> None:
        """More begin than are wanted, and all of them come to an end; or one after the other."""
        people = [who for who in LABELERS if who not in self.document.gone]
        for who in people if all_at_once else []:
            self.start(who)
        for who in people:
            self.start(who)
            self.look(who)
            for labels in self.document.of(who, "draft"):
                self._save(labels, who, behind=0)
                self._save(labels, who, behind=1)
                self._submit(labels)
        for labels in self.document.of(LABELERS[0], "submitted"):
            self._reject(labels, REVIEWERS[0], LABELERS[1], behind=0)

    def again(self, reviewer: str, number: int, *, back: bool) -> None:
        """It goes back to its labeler, who hands it in again; or to somebody else, or else to the
        pool, which is undone."""
        labels = self._some(number, "submitted")
        if labels.status == "submitted" and labels.labeler not in self.document.gone:
            others = [one for one in LABELERS if one != labels.labeler]
            self._reject(labels, reviewer, "back" if back else others[number % 2], behind=0)
            if back:
                self._submit(labels)
            else:
                self._reject(labels, reviewer, "pool", behind=0)
                self._reopen(labels, reviewer, behind=0, back=False)

    def again_all(self, reviewer: str) -> None:
        """The same by bulk."""
        self.reject_all(reviewer, back=True)
        for labels in self.document.sets:
            if labels.status == "draft":
                self._submit(labels)

    def save(self, who: str, number: int, behind: int) -> None:
        labels = self._some(number, "draft")
        own = number % 2 and labels.labeler not in self.document.gone
        self._save(labels, labels.labeler if own else who, behind=behind)

    def _save(self, labels: Labels, who: str, *, behind: int) -> None:
        value = f"{who} {self._now()}"
        body = {"tags": [tag("number", value)], "revision": labels.revision - behind}
        answer = self._send(who, "PUT", f"/tag-sets/{labels.id}/tags", body)
        if labels.labeler != who:
            self._others(who, answer)
        elif self._expect(answer, 409 if behind or not labels.allows(Action.SAVE) else None):
            labels.value = value
            labels.note("save")
            labels.begun = True
            if not self.document.archived:
                self._take(who)
                if who not in self.document.reserved_for:
                    self.document.reserved_for.append(who)

    def submit(self, number: int) -> None:
        self._submit(self._some(number, "draft"))

    def _submit(self, labels: Labels) -> None:
        refused = 409 if not labels.allows(Action.SUBMIT) else 400 if labels.value is None else None
        if labels.labeler in self.document.gone:
            refused = 403
        answer = self._post(labels.labeler, f"/tag-sets/{labels.id}/submit")
        if self._expect(answer, refused):
            labels.status, labels.handed, labels.reviewer = "submitted", False, None
            labels.submitted, labels.decided = True, 0
            labels.note("submit")
            self._let_go(labels.labeler)

    def _let_go(self, who: str) -> None:
        if self.document.holder == who:
            self.document.holder = None
        self.document.follow()

    def discard(self, number: int) -> None:
        labels = self._some(number)
        refused = 409 if not labels.allows(Action.DELETE) or labels.submitted else None
        if labels.labeler in self.document.gone:
            refused = 403
        answer = self._send(labels.labeler, "DELETE", f"/tag-sets/{labels.id}")
        if self._expect(answer, refused, 204):
            self.document.sets.remove(labels)
            self._let_go(labels.labeler)

    def accept(self, who: str, number: int, corrects: bool, behind: int) -> None:
        labels = self._some(number, "submitted")
        enough = self.document.count("accepted") >= WANTED
        refused = 409 if not labels.allows(Action.ACCEPT) or behind or enough else None
        value = f"{who} {self._now()}" if corrects else labels.value or "x"
        body = {"tags": [tag("number", value)], "revision": labels.revision - behind}
        if self._expect(self._post(who, f"/tag-sets/{labels.id}/accept", body), refused):
            labels.value, labels.status, labels.reviewer = value, "accepted", who
            labels.note("correction" if corrects else "accept")
            self.accepted.append(labels.id)
            self.document.follow()

    def reject(self, who: str, number: int, to: str, behind: int) -> None:
        self._reject(self._some(number, "submitted"), who, to, behind)

    def _reject(self, labels: Labels, who: str, to: str, behind: int) -> None:
        heir = None if to == "pool" else labels.labeler if to == "back" else to
        back = heir == labels.labeler
        refused = 409 if not labels.allows(Action.REJECT) or behind else None
        if heir in self.document.gone and refused is None:
            refused = 400
        if heir is not None and refused is None:
            spent = back and labels.spent
            has = [one for one in self.document.of(heir, "draft", *STANDING) if one is not labels]
            refused = 409 if spent or has else None
        send_to = str(self.org.users[to]) if to in LABELERS else {"back": "labeler"}.get(to, to)
        body = {"reason": "No", "send_to": send_to, "revision": labels.revision - behind}
        if self._expect(self._post(who, f"/tag-sets/{labels.id}/reject", body), refused):
            labels.status, labels.reviewer = "draft" if back else "rejected", who
            labels.rejections += 1
            labels.handed, labels.decided = back, self._now()
            labels.note("reject")
            if heir is not None:
                self._hand_on(labels, heir)
            else:
                self._pass_over(labels)
            self.document.follow()

    def _pass_over(self, labels: Labels) -> None:
        """Its labeler does not get it again by `next`; a skip of theirs stands."""
        if labels.labeler not in self.document.skips:
            self.document.passed_over.add(labels.labeler)

    def _hand_on(self, labels: Labels, heir: str) -> None:
        self._take(heir)
        if heir == labels.labeler:
            return
        found = self.workspace.sql(
            "SELECT id FROM tag_sets WHERE artifact_id = :id AND labeler_id = :heir"
            " AND status = 'draft'",
            id=self.artifact_id,
            heir=self.org.users[heir],
        )
        rejections = labels.rejections + labels.earlier
        draft = Labels(
            str(found[0].id),
            heir,
            self._now(),
            value=labels.value,
            handed=True,
            earlier=rejections,
        )
        self._add(draft)

    def reopen(self, who: str, number: int, behind: int, *, back: bool) -> None:
        self._reopen(self._some(number, "accepted", "rejected"), who, behind, back=back)

    def _reopen(self, labels: Labels, who: str, behind: int, *, back: bool) -> None:
        document = self.document
        others = document.of(labels.labeler, "draft", *STANDING)
        full = labels.status == "rejected" and document.count(*STANDING) >= WANTED
        has = any(one is not labels for one in others)
        decided = labels.allows(Action.REOPEN)
        refused = None if decided and not (behind or full or has) else 409
        if refused is None or not (behind or full):
            gone = decided and back and not behind and not full
            refused = 400 if gone and labels.labeler in document.gone else refused
        body = {
            "reason": "Look again",
            "to": "labeler" if back else "review",
            "revision": labels.revision - behind,
        }
        if self._expect(self._post(who, f"/tag-sets/{labels.id}/reopen", body), refused):
            labels.status, labels.reviewer = ("draft", who) if back else ("submitted", None)
            labels.handed, labels.decided = back, 0
            labels.note("reopen")
            if back:
                self._take(labels.labeler)
                document.unskip(labels.labeler)
            document.follow()

    def archive(self, archived: bool) -> None:
        document = self.document
        path = f"/artifacts/{self.artifact_id}"
        self._expect(self._send("admin", "PATCH", path, {"archived": archived}), None)
        if archived != document.archived:
            document.archived = archived
            document.holder = None if archived else document.holder
            document.follow()

    def accept_all(self, who: str) -> None:
        """One after the other, but in one call: those before one count for it."""
        well = []
        for labels in self.document.sets:
            if labels.status == "submitted" and self.document.count("accepted") < WANTED:
                labels.status, labels.reviewer = "accepted", who
                labels.note("accept")
                well.append(labels.id)
        self._all(who, "accept", well)
        self.accepted += well

    def reject_all(self, who: str, *, back: bool) -> None:
        well, document = [], self.document
        for labels in document.sets:
            others = document.of(labels.labeler, "draft", *STANDING)
            in_the_way = [one for one in others if one is not labels]
            spent = labels.spent or labels.labeler in document.gone
            if labels.status != "submitted" or (back and (spent or in_the_way)):
                continue
            labels.status, labels.reviewer = "draft" if back else "rejected", who
            labels.rejections += 1
            labels.handed, labels.decided = back, self._now()
            labels.note("reject")
            well.append(labels.id)
            if back:
                self._take(labels.labeler)
            else:
                self._pass_over(labels)
        send_to = "labeler" if back else "pool"
        self._all(who, "reject", well, reason="No", send_to=send_to)

    def _all(self, who: str, verdict: str, well: list[str], **members: str) -> None:
        ids = [labels.id for labels in self.document.sets]
        body = {"tag_set_ids": ids, **members}
        answer = self._post(who, f"/review-queue/bulk-{verdict}", body)
        self._expect(answer, None)
        assert [one["id"] for one in answer.json["data"]["outcomes"] if one["ok"]] == well
        if well:
            self.document.follow()

    def look(self, who: str) -> None:
        """Labelers label blind until they have submitted a label set of the document, and never see
        others' drafts."""
        done = any(one.submitted for one in self.document.sets if one.labeler == who)
        shown = {
            one.id
            for one in self.document.sets
            if one.labeler == who or (done and one.status != "draft")
        }
        listed = self._send(who, "GET", f"/tag-sets?artifact_id={self.artifact_id}")
        assert {one["id"] for one in listed.json["data"]} == shown
        for labels in self.document.sets:
            one = self._send(who, "GET", f"/tag-sets/{labels.id}")
            self._expect(one, None if labels.id in shown else 404)

    def leave(self, reviewer: str) -> None:
        """The last of the labelers leaves the organization, with work in hand where there is any;
        their label sets stay."""
        who, document = LABELERS[-1], self.document
        if who in document.gone or not document.sets:
            return
        for labels in document.of(who, "submitted"):
            self._reject(labels, reviewer, "back", behind=0)
        self.claim(who)
        path = f"/organizations/{self.org.slug}/members/{self.org.users[who]}"
        self._expect(self._send("admin", "DELETE", path), None, 204)
        user_id = self.org.users[who]
        with self.flask.app_context(), tenancy.organization(self.org.id), db.transaction():
            claims.release_all_claims(user_id, reason="member_removed")
            claims.release_reservations(user_id, db.checkpoint)
        document.gone.add(who)
        reserved = who in document.reserved_for
        if document.holder == who:
            document.holder = None
            if document.status == "in_progress" and not document.count("draft", *STANDING):
                document.status = "ready"
        if reserved:
            document.follow()

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
        assert row["label_counts"] == {one: self.document.count(one) for one in states}
        assert (row["status"], row["archived"]) == (self.document.status, self.document.archived)
        holder = self.document.holder and str(self.org.users[self.document.holder])
        assert (row["claim"] and row["claim"]["user_id"]) == holder
        # What the draw goes by.
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
        assert shown == {one.id: self._shown(one) for one in self.document.sets}

    def _shown(self, labels: Labels) -> tuple[Any, ...]:
        ids = {name: str(user_id) for name, user_id in self.org.users.items()}
        values = [] if labels.value is None else [labels.value]
        reviewer = ids.get(labels.reviewer or "")
        return (ids[labels.labeler], labels.status, labels.revision, values, reviewer)

    def teardown(self) -> None:
        """Each revision holds what was saved then, and each acceptance was a reviewer's, told
        once."""
        for labels in self.document.sets:
            kept = self.workspace.revisions(labels.id)
            assert [row.number for row in kept] == list(range(1, labels.revision + 1))
            values = [row.tags[0]["value"] if row.tags else None for row in kept]
            assert [*zip([row.kind for row in kept], values, strict=True)] == labels.kept
        told = self.workspace.events("tag_set.accepted")
        assert [one["tag_set_id"] for one in told] == self.accepted
        assert all(one["reviewer_id"] is not None for one in told)
        self._check_statuses()


def test_a_document_lives_as_the_model_says(app: Flask) -> None:
    run_machine(type("Life", (ArtifactLife,), {"flask": app}), examples=LIVES, steps=STEPS)
