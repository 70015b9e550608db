"""How many emails invitations cause, and what they do not hold up."""

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session
from flask import Flask
from limits import RateLimitItemPerMinute

from app.identity.invitations import service
from app.kit import container, mail
from app.kit.jobs import worker
from app.kit.jobs.queues import QUEUES
from app.kit.mail import Mailer
from tests.factories import Org, make_org
from tests.factories.counts import run_sql
from tests.factories.mail import Inbox, build_inbox_server
from tests.identity.invitations.conftest import Workspace, address

SECONDS = 60.0


def send_waiting_emails(workspace: Workspace, work: Callable[[], None]) -> None:
    """Let all waiting emails of an organization become due, and send them."""
    workspace.sql("UPDATE jobs SET due_at = now() WHERE status = 'queued'")
    work()


def list_waits(workspace: Workspace) -> list[float]:
    """Return the seconds until each waiting email of an organization is due."""
    rows = run_sql(
        workspace.org,
        "SELECT extract(epoch FROM due_at - created_at) AS seconds FROM jobs"
        " WHERE function = 'letters.send' AND due_at > now() ORDER BY due_at",
    )
    return [float(row.seconds) for row in rows]


def list_due_days(workspace: Workspace) -> list[int]:
    """Return the days on which emails of an organization are due, from the day of the first."""
    rows = run_sql(
        workspace.org,
        "SELECT CAST(coalesce(due_at, created_at) AT TIME ZONE 'UTC' AS date) AS due_on FROM jobs"
        " WHERE function = 'letters.send' ORDER BY 1",
    )
    return [(row.due_on - rows[0].due_on).days for row in rows]


def delete_counters() -> None:
    """Delete all counters, as the clock would."""
    redis = container.current().redis(timeout=5)
    for key in redis.scan_iter("limits*"):
        redis.delete(key)


def list_key_lifetimes(workspace: Workspace) -> list[int]:
    """Return for how many seconds the store keeps the counts of the organization's days."""
    redis = container.current().redis(timeout=5)
    return [redis.ttl(key) for key in redis.scan_iter(f"limits*{workspace.org.id}*")]


@pytest.mark.usefixtures("rate_limits")
def test_an_address_gets_one_email_a_minute_however_it_is_spelled(
    workspace: Workspace, other_org: Org, work: Callable[[], None]
) -> None:
    email = address()
    workspace.invite_and_get_token(email)
    assert workspace.invite(email).status_code == 201
    assert workspace.invite(email.upper()).status_code == 201
    assert len(workspace.emails(email)) == 1
    (wait,) = list_waits(workspace)
    assert 0 < wait <= 60, "the second waiting email has replaced the first"
    send_waiting_emails(workspace, work)
    assert len(workspace.emails(email)) == 2, "only the last token is valid, so one email is sent"
    token = workspace.token(email)
    assert workspace.org.anonymous().get(f"/auth/invitations/{token}").status_code == 200
    elsewhere = Workspace(other_org, work)
    assert elsewhere.invite(email).status_code == 201
    assert list_waits(elsewhere) == [], "others do not learn of the invitation"


@pytest.mark.usefixtures("rate_limits")
def test_an_address_gets_ten_emails_a_day(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    pause = service.ADDRESS_LIMITS[0]
    assert pause == RateLimitItemPerMinute(1)
    monkeypatch.setattr(service, "ADDRESS_LIMITS", service.ADDRESS_LIMITS[1:])
    email = address()
    for _ in range(10):
        workspace.invite_and_get_token(email)
    assert workspace.invite(email).status_code == 201
    (wait,) = list_waits(workspace)
    assert 60 < wait <= 86_400


@pytest.mark.usefixtures("rate_limits")
def test_repeated_invitations_count_once_while_their_email_waits(workspace: Workspace) -> None:
    email = address()
    workspace.invite_and_get_token(email)
    for _ in range(11):
        assert workspace.invite(email).status_code == 201
    (wait,) = list_waits(workspace)
    assert 0 < wait <= 60, "the emails of the day are not used up"


@pytest.mark.usefixtures("rate_limits")
def test_an_email_that_waited_counts_when_it_is_sent(
    workspace: Workspace, work: Callable[[], None]
) -> None:
    email = address()
    workspace.invite_and_get_token(email)
    assert workspace.invite(email).status_code == 201
    delete_counters()
    send_waiting_emails(workspace, work)
    assert len(workspace.emails(email)) == 2
    assert workspace.invite(email).status_code == 201
    (wait,) = list_waits(workspace)
    assert 0 < wait <= 60


@pytest.mark.usefixtures("rate_limits")
def test_an_email_that_waits_for_its_minute_counts_for_a_day_of_the_organization(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(container.settings(), invitations_per_day=1)
    monkeypatch.setattr(container.current(), "settings", settings)
    email = address()
    workspace.invite_and_get_token(email)
    for _ in range(3):
        assert workspace.invite(email).status_code == 201
    assert workspace.invite(address()).status_code == 201
    assert list_due_days(workspace) == [0, 1, 2]
    assert max(list_key_lifetimes(workspace)) > 2 * 86_400, "counts last until their day"


@pytest.mark.usefixtures("rate_limits")
@pytest.mark.parametrize("ended", ["invitation", "organization"])
def test_a_waiting_email_is_dropped_when_its_invitation_ends(
    workspace: Workspace, work: Callable[[], None], ended: str
) -> None:
    email = address()
    workspace.invite_and_get_token(email)
    invitation = workspace.invite(email).json["data"]
    owner, path = workspace.org.api("owner"), f"/organizations/{workspace.org.slug}"
    if ended == "invitation":
        answer = owner.delete(f"{path}/invitations/{invitation['id']}")
    else:
        answer = owner.post(f"{path}/close", {"slug": workspace.org.slug})
    assert answer.status_code in (202, 204)
    send_waiting_emails(workspace, work)
    assert len(workspace.emails(email)) == 1


@pytest.mark.usefixtures("rate_limits")
def test_the_emails_of_an_organization_are_spread_over_days(
    workspace: Workspace, other_org: Org, work: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(container.settings(), invitations_per_day=2)
    monkeypatch.setattr(container.current(), "settings", settings)
    for _ in range(5):
        assert workspace.invite(address()).status_code == 201
    elsewhere = Workspace(other_org, work)
    assert elsewhere.invite(address()).status_code == 201
    assert list_waits(elsewhere) == []
    assert list_waits(workspace) == [86_400, 86_400, 2 * 86_400]


@pytest.mark.usefixtures("rate_limits")
def test_what_is_refused_counts_nothing(workspace: Workspace) -> None:
    email = address()
    assert workspace.invite(email, "owner", by="admin").status_code == 403
    assert workspace.invite(email, team_ids=[str(workspace.org.id)]).status_code == 400
    assert workspace.invite(email).status_code == 201
    assert list_waits(workspace) == []


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
    server = build_inbox_server(inbox)
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
