"""How many emails invitations cause, and what they do not hold up."""

import threading
from collections.abc import Callable

import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session
from flask import Flask
from limits import RateLimitItemPerMinute

from app.identity.invitations import service
from app.kit import container, mail, ratelimit
from app.kit.jobs import worker
from app.kit.jobs.queues import QUEUES
from app.kit.mail import Mailer
from tests.factories import Org, make_org
from tests.factories.mail import Inbox, inbox_server
from tests.identity.invitations.conftest import Workspace, address, code

SECONDS = 60.0


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count, as outside of tests."""
    monkeypatch.setattr(ratelimit, "_store", ratelimit.RateLimitStore())


@pytest.mark.usefixtures("counted")
def test_an_address_is_invited_once_a_minute_however_it_is_spelled(
    workspace: Workspace, other_org: Org, work: Callable[[], None]
) -> None:
    email = address()
    assert workspace.invite(email).status_code == 201
    for again in (workspace.invite(email), workspace.invite(email.upper())):
        assert (again.status_code, code(again)) == (429, "rate_limited")
        wait = int(again.headers["Retry-After"])
        assert 1 <= wait <= 60
        assert again.json["error"]["details"]["retry_after"] == wait
    assert workspace.invite(address()).status_code == 201
    assert len(workspace.emails(email)) == 1
    elsewhere = Workspace(other_org, work)
    assert elsewhere.invite(email).status_code == 201, "others do not learn of the invitation"


@pytest.mark.usefixtures("counted")
def test_an_address_is_invited_ten_times_a_day(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    pause = service.ADDRESS_LIMITS[0]
    assert pause == RateLimitItemPerMinute(1)
    monkeypatch.setattr(service, "ADDRESS_LIMITS", service.ADDRESS_LIMITS[1:])
    email = address()
    answers = [workspace.invite(email) for _ in range(11)]
    assert [answer.status_code for answer in answers] == [201] * 10 + [429]
    assert int(answers[-1].headers["Retry-After"]) > 60


@pytest.mark.usefixtures("counted")
def test_an_organization_has_a_daily_number(
    workspace: Workspace, other_org: Org, work: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    object.__setattr__(container.settings(), "invitations_per_day", 3)
    try:
        answers = [workspace.invite(address()) for _ in range(5)]
        assert Workspace(other_org, work).invite(address()).status_code == 201
    finally:
        object.__setattr__(container.settings(), "invitations_per_day", 500)
    assert [answer.status_code for answer in answers] == [201] * 3 + [429] * 2
    assert code(answers[-1]) == "rate_limited"
    assert int(answers[-1].headers["Retry-After"]) > 60


@pytest.mark.usefixtures("counted")
def test_what_is_refused_counts_nothing(workspace: Workspace) -> None:
    email = address()
    assert workspace.invite(email, "owner", by="admin").status_code == 403
    assert workspace.invite(email, team_ids=[str(workspace.org.id)]).status_code == 400
    assert workspace.invite(email).status_code == 201


class SlowGuests(Inbox):
    """A server that answers nothing about mail to guests until it is let go on."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = False
        self.guests = threading.Semaphore(0)
        self.others = threading.Semaphore(0)

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        guest = any(to.startswith("guest") for to in envelope.rcpt_tos)
        self.hold = "" if self.opened or not guest else "-"
        if guest:
            self.guests.release()
        answer = await super().handle_DATA(server, session, envelope)
        if not guest:
            self.others.release()
        return answer


def test_people_are_mailed_while_invitations_wait(
    app: Flask, work: Callable[[], None], monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    """A link to a new password does not queue behind invitations of three organizations."""
    work()
    monkeypatch.setattr(mail, "TIMEOUT_SECONDS", 2 * SECONDS)
    inbox = SlowGuests()
    server = inbox_server(inbox)
    server.start()
    mailer = Mailer(f"smtp://127.0.0.1:{server.port}", tmp_path, "no-reply@labels.example")
    monkeypatch.setitem(vars(container.current()), "mailer", mailer)
    orgs = [make_org(app) for _ in range(3)]
    for org in orgs:
        for _ in range(4):
            assert Workspace(org, work).invite(address()).status_code == 201

    def drain() -> None:
        with app.app_context():
            worker.drain("outside")

    thread = threading.Thread(target=drain)
    thread.start()
    try:
        for _ in range(QUEUES["bulk_mail"].slots if "bulk_mail" in QUEUES else 4):
            assert inbox.guests.acquire(timeout=SECONDS)
        asked = {"email": orgs[0].email("viewer")}
        answer = orgs[0].anonymous().post("/auth/password-reset/request", json=asked)
        assert answer.status_code == 202
        assert inbox.others.acquire(timeout=SECONDS)
        assert asked["email"] in inbox.recipients
    finally:
        inbox.opened = True
        inbox.hold = ""
        thread.join(2 * SECONDS)
        server.stop()
    assert not thread.is_alive()
