"""A person's notifications in two organizations against a small model: totals, counts and pages."""

from dataclasses import dataclass
from typing import Any

from flask import Flask
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from app.delivery.notifications.queries import changing
from app.identity.organizations.models import Membership
from tests.factories import Org, make_org
from tests.factories.counts import find_differences, fold, run_sql
from tests.factories.notifications import insert_notifications
from tests.factories.state_machines import expect_failure, note_request, run_machine

KINDS = ("mention", "export_ready", "assignment")
PLACES = ("first", "second")
LIVES, STEPS = 8, 20


@dataclass
class Note:
    """A notification of the model."""

    id: str
    place: str
    kind: str
    read: bool
    in_app: bool


class InboxLife(RuleBasedStateMachine):
    """After each step, the service's answers are the model's."""

    flask: Flask

    @initialize()
    def open(self) -> None:
        self.orgs: dict[str, Org] = {place: make_org(self.flask) for place in PLACES}
        self.person = self.orgs["first"].users["labeler"]
        self.notes: list[Note] = []
        self.is_member = {"first": True, "second": False}
        self.minute = 0
        self.arrive("first", "mention", 3, read=False, in_app=True)
        self.arrive("second", "assignment", 2, read=False, in_app=True)

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        options = {} if body is None else {"json": body}
        answer = self.orgs["first"].api("labeler").request(method, path, **options)
        note_request({}, "labeler", method, path, body, answer)
        return answer

    def _sees(self, note: Note) -> bool:
        return note.in_app and self.is_member[note.place]

    @rule(
        place=st.sampled_from(PLACES),
        kind=st.sampled_from(KINDS),
        number=st.integers(1, 4),
        read=st.booleans(),
        in_app=st.sampled_from((True, True, True, False)),
    )
    def arrive(self, place: str, kind: str, number: int, *, read: bool, in_app: bool) -> None:
        self.minute += 10
        start = f"2026-05-04T{self.minute // 60:02}:{self.minute % 60:02}:00Z"
        ids = insert_notifications(
            self.orgs[place], self.person, number, kind=kind, read=read, in_app=in_app, start=start
        )
        self.notes += [Note(id_, place, kind, read, in_app) for id_ in ids]

    @rule(number=st.integers(0, 50), read=st.booleans())
    def mark(self, number: int, *, read: bool) -> None:
        if self.notes:
            note = self.notes[number % len(self.notes)]
            answer = self._send("POST", f"/notifications/{note.id}/read", {"read": read})
            assert answer.status_code == (200 if self._sees(note) else 404)
            if self._sees(note):
                note.read = read

    @rule(number=st.integers(0, 50))
    def delete(self, number: int) -> None:
        if self.notes:
            note = self.notes[number % len(self.notes)]
            answer = self._send("DELETE", f"/notifications/{note.id}")
            assert answer.status_code == (204 if self._sees(note) else 404)
            if self._sees(note):
                self.notes.remove(note)

    @rule()
    def read_all(self) -> None:
        unread = [note for note in self.notes if self._sees(note) and not note.read]
        answer = self._send("POST", "/notifications/read-all")
        assert answer.json["data"] == {"read": len(unread)}
        for note in unread:
            note.read = True

    @rule()
    def change_membership(self) -> None:
        second = self.orgs["second"]
        if self.is_member["second"]:
            run_sql(
                second,
                "DELETE FROM memberships WHERE organization_id = :org AND user_id = :id",
                id=self.person,
            )
        else:
            with second.transaction() as s:
                s.add(Membership(user_id=self.person, role="viewer"))
        self.is_member["second"] = not self.is_member["second"]

    @rule()
    def fold(self) -> None:
        fold(self.flask)

    @invariant()
    def counts_are_those_of_the_rows(self) -> None:
        seen = [note for note in self.notes if self._sees(note)]
        unread = {note.id for note in seen if not note.read}
        answer = self._send("GET", "/notifications/unread-count")
        assert answer.json["data"] == {"unread": len(unread)}
        page = self._send("GET", "/notifications?page_size=1000").json
        assert page["meta"]["total"] == len(seen)
        assert {one["id"] for one in page["data"]} == {note.id for note in seen}
        assert {one["id"] for one in page["data"] if one["read_at"] is None} == unread
        for kind in KINDS:
            query = f"kind={kind}&unread=true&page_size=1"
            total = self._send("GET", f"/notifications?{query}").json["meta"]["total"]
            assert total == len([n for n in seen if n.kind == kind and not n.read])

    def teardown(self) -> None:
        for org in self.orgs.values():
            assert find_differences(org) == []


def test_an_inbox_is_as_its_model(app: Flask, monkeypatch: Any) -> None:
    monkeypatch.setattr(changing, "BATCH_SIZE", 3)
    InboxLife.flask = app
    run_machine(InboxLife, examples=LIVES, steps=STEPS)


def test_the_model_notices_a_batch_that_ends_too_early(app: Flask, monkeypatch: Any) -> None:
    mark_batch_as_read = changing.mark_batch_as_read
    monkeypatch.setattr(changing, "BATCH_SIZE", 1)
    monkeypatch.setattr(
        changing, "mark_batch_as_read", lambda *args: (None, mark_batch_as_read(*args)[1])
    )
    InboxLife.flask = app
    expect_failure(InboxLife, examples=LIVES, steps=STEPS)
