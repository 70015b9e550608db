"""Emails through a worker, to a real mail server."""

import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import pytest
from flask import Flask
from sqlalchemy import text

from app.delivery.notifications.service import mailing
from app.kit import container, db
from app.kit.emails import Emails
from app.kit.emails.templates import TemplateError
from app.kit.mail import Mailer
from tests.factories import Org
from tests.factories.mail import PASSWORD, URL_PASSWORD, Inbox, get_body
from tests.factories.orgs import transaction_across_organizations
from tests.factories.processes import has_ended, send_signal
from tests.factories.waiting import wait_until

ROOT = Path(__file__).parents[3]
ROWS = text(
    "SELECT status, args, error, attempts, due_at > now() AS later FROM jobs"
    " WHERE function = 'letters.send' AND args->>'message_id' = :id"
)
VALUES = {"organization": "Åre", "title": "Look", "body": "s3cret\nbody", "link": "/x?token=t0"}


@pytest.fixture
def emails() -> Emails:
    return mailing.emails


def add(emails: Emails, *, to: str = "anna@example.com", **options: Any) -> str:
    """Queue an email in the running transaction, and return its message id."""
    message_id = f"test-{uuid4()}"
    emails.enqueue(
        "notification", to=to, locale="en", values=VALUES, message_id=message_id, **options
    )
    return message_id


def enqueue(app: Flask, emails: Emails, **options: Any) -> str:
    """Queue an email in a transaction of its own, and return its message id."""
    with app.app_context(), db.transaction():
        return add(emails, **options)


def rows(app: Flask, message_id: str) -> list[dict[str, object]]:
    with transaction_across_organizations(app) as session:
        return [dict(row) for row in session.execute(ROWS, {"id": message_id}).mappings()]


def sendings(inbox: Inbox, message_id: str) -> list[EmailMessage]:
    """Return all received copies of one message. Other tests may also send emails."""
    return [m for m in inbox.messages if message_id in m["Message-ID"]]


def ids(inbox: Inbox, message_id: str) -> list[str]:
    return [message["Message-ID"] for message in sendings(inbox, message_id)]


@pytest.fixture
def mail_server(
    serve: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, app: Flask
) -> None:
    mailer = Mailer(f"smtp://127.0.0.1:{serve()}", tmp_path, "Labels <no-reply@labels.example>")
    monkeypatch.setitem(vars(container.current()), "mailer", mailer)


@pytest.mark.usefixtures("mail_server")
def test_an_email_is_text_and_html(
    app: Flask, emails: Emails, inbox: Inbox, work: Callable[[], None]
) -> None:
    message_id = enqueue(app, emails)
    work()
    (message,) = sendings(inbox, message_id)
    assert message["Subject"] == "[Åre] Look"
    assert message["Content-Language"] == "en"
    assert message.get_content_type() == "multipart/alternative"
    assert "s3cret\nbody\n\nOpen:\n" in get_body(message, "plain")
    assert '<html lang="en" dir="ltr">' in get_body(message, "html")


@pytest.mark.usefixtures("mail_server")
def test_pending_and_sent_emails_show_no_secret(
    app: Flask, emails: Emails, work: Callable[[], None]
) -> None:
    message_id = enqueue(app, emails)
    (waiting,) = rows(app, message_id)
    for secret in ("s3cret", "t0", "anna@example.com", "Look"):
        assert secret not in str({**waiting["args"], "sealed": ""})  # type: ignore[dict-item]
    secrets = container.keyring().decrypt(waiting["args"]["sealed"])  # type: ignore[index]
    assert b"s3cret" in secrets
    work()
    (sent,) = rows(app, message_id)
    assert sent["status"] == "completed"
    assert set(sent["args"]) == {"folder", "name", "message_id"}  # type: ignore[call-overload]


@pytest.mark.usefixtures("mail_server")
@pytest.mark.parametrize(
    ("answer", "status", "kept", "error"),
    [
        ("550 no such user", "completed", False, None),
        ("450 busy", "queued", True, "Retry: recipient refused (450)"),
    ],
)
def test_refused_for_good_or_for_now(
    app: Flask,
    emails: Emails,
    inbox: Inbox,
    work: Callable[[], None],
    answer: str,
    status: str,
    kept: bool,
    error: str | None,
) -> None:
    inbox.recipient_response = answer
    message_id = enqueue(app, emails)
    work()
    (row,) = rows(app, message_id)
    assert (row["status"], row["error"], "sealed" in str(row["args"])) == (status, error, kept)
    if kept:
        assert row["later"]
        inbox.recipient_response = "250 OK"
        _set(app, message_id, "due_at = now()")
        work()
        assert ids(inbox, message_id) == [f"<{message_id}@labels.example>"]


@pytest.mark.usefixtures("mail_server")
def test_who_is_no_address_is_given_up(
    app: Flask, emails: Emails, inbox: Inbox, work: Callable[[], None]
) -> None:
    message_id = enqueue(app, emails, to="a@b.c, d@e.f")
    work()
    assert [row["status"] for row in rows(app, message_id)] == ["completed"]
    assert ids(inbox, message_id) == []


def test_what_is_rolled_back_is_not_sent(app: Flask, emails: Emails) -> None:
    with app.app_context():
        message_id = add(emails)
        db.session().rollback()
    assert rows(app, message_id) == []


def test_a_missing_value_or_template_is_noticed_at_once(app: Flask, emails: Emails) -> None:
    with app.app_context():
        with pytest.raises(TemplateError, match="body, link, title"):
            emails.enqueue("notification", to="a@b.c", locale="en", values={"organization": "o"})
        with pytest.raises(TemplateError, match="no template nothing"):
            emails.enqueue("nothing", to="a@b.c", locale="en", values={})


def test_emails_of_an_erased_organization_are_gone(app: Flask, org: Org, emails: Emails) -> None:
    with org.transaction() as session:
        message_id = add(emails, organization_id=org.id)
        session.execute(text("DELETE FROM organizations WHERE id = :id"), {"id": org.id})
    assert rows(app, message_id) == []


def _set(app: Flask, message_id: str, change: str) -> None:
    sql = text(f"UPDATE jobs SET {change} WHERE args->>'message_id' = :id")
    with transaction_across_organizations(app) as session:
        assert session.execute(sql, {"id": message_id}).rowcount == 1  # type: ignore[attr-defined]


def _sending(parent: psutil.Process, port: int) -> psutil.Process | None:
    """Return the worker that is connected to the mail server."""
    for child in parent.children(recursive=True):
        try:
            connections = child.net_connections()
        except psutil.Error:  # the process has exited, or access is denied
            continue
        if any(c.raddr and c.raddr.port == port and c.status == "ESTABLISHED" for c in connections):
            return child
    return None


def test_a_worker_killed_while_it_sends(
    app: Flask,
    environ: dict[str, str],
    emails: Emails,
    inbox: Inbox,
    serve: Callable[..., int],
    server_context: ssl.SSLContext,
) -> None:
    """The email is sent again over STARTTLS with a login, with the same message id."""
    port = serve(tls_context=server_context, require_starttls=True, auth_required=True)
    message_id = inbox.hold = enqueue(app, emails)
    url = f"smtp://user:{URL_PASSWORD}@127.0.0.1:{port}?starttls=1"
    own = {"SMTP_URL": url, "SSL_CERT_FILE": os.environ["SSL_CERT_FILE"], "JOB_WORKERS": "1"}
    process = subprocess.Popen([sys.executable, "worker.py"], cwd=ROOT, env={**environ, **own})
    try:
        parent = psutil.Process(process.pid)
        wait_until(lambda: ids(inbox, message_id))
        victim = _sending(parent, port)
        assert victim is not None
        send_signal(victim, signal.SIGKILL)
        inbox.hold = ""
        wait_until(lambda: has_ended(victim))
        _set(app, message_id, "leased_until = now()")  # the lease of the dead worker
        wait_until(lambda: rows(app, message_id)[0]["status"] == "completed")
    finally:
        process.terminate()
        process.wait(30)
    assert ids(inbox, message_id) == [f"<{message_id}@localhost>"] * 2
    assert set(inbox.logins) == {(b"user", PASSWORD.encode())}
    assert all(inbox.encrypted)
    assert rows(app, message_id)[0]["attempts"] == 0
