import ssl
import stat
from collections.abc import Callable
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
import trustme

from app.kit.mail import Mailer, MailFailed, MailRefused
from devserver.process import find_free_port
from tests.factories.mail import PASSWORD, URL_PASSWORD, Inbox, get_body

SENDER = "Labeling Service <no-reply@labels.example>"


def send(
    url: str, folder: Path, to: str = "anna@example.com", subject: str = "Hello", **options: Any
) -> None:
    """Send a message through the server at `url`, or write it to the folder."""
    Mailer(url, folder, SENDER).send(to, subject, "text", **options)


def in_folder(folder: Path) -> EmailMessage:
    (path,) = folder.glob("*.eml")
    parsed = message_from_bytes(path.read_bytes(), policy=policy.default)
    assert isinstance(parsed, EmailMessage)
    return parsed


def test_without_a_server_messages_are_files(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "mail"
    Mailer("", folder, SENDER).send(
        "anna@example.com", "Grüße 日本", "Hello\nAnna", "<p>Hello</p>", message_id="reset-1"
    )
    message = in_folder(folder)
    assert message["From"] == SENDER
    assert message["To"] == "anna@example.com"
    assert message["Subject"] == "Grüße 日本"
    assert message["Message-ID"] == "<reset-1@labels.example>"
    assert message["Date"].datetime is not None
    assert message["Auto-Submitted"] == "auto-generated"
    assert get_body(message, "plain") == "Hello\nAnna\n"
    assert get_body(message, "html") == "<p>Hello</p>\n"
    modes = {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert (stat.S_IMODE(folder.stat().st_mode), modes) == (0o700, {0o600})


def test_the_same_message_id_is_the_same_file(tmp_path: Path) -> None:
    mailer = Mailer("", tmp_path, SENDER)
    for _ in range(2):
        mailer.send("anna@example.com", "Once", "text", message_id="notification-7")
    assert in_folder(tmp_path)["Message-ID"] == "<notification-7@labels.example>"
    mailer.send("anna@example.com", "Another", "text")
    assert len(list(tmp_path.iterdir())) == 2


def test_a_file_that_cannot_be_written_leaves_no_draft(tmp_path: Path) -> None:
    (tmp_path / "m-1.eml").mkdir()
    with pytest.raises(OSError, match="directory"):
        send("", tmp_path, message_id="m-1")
    assert [path.name for path in tmp_path.iterdir()] == ["m-1.eml"]


def test_through_a_server(inbox: Inbox, serve: Callable[..., int], tmp_path: Path) -> None:
    port = serve()
    mailer = Mailer(f"smtp://127.0.0.1:{port}", tmp_path, SENDER)
    mailer.send("anna@example.com", "Hello", "long line " * 500, message_id="m-1")
    mailer.send("anna@bücher.example", "Hello", "ключ")
    assert inbox.recipients == ["anna@example.com", "anna@xn--bcher-kva.example"]
    first, second = inbox.messages
    assert first["Message-ID"] == "<m-1@labels.example>"
    assert get_body(first, "plain").strip() == ("long line " * 500).strip()
    assert get_body(second, "plain") == "ключ\n"
    assert inbox.encrypted == [False, False]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("switch", ["1", "On"])
def test_starttls_and_login(
    inbox: Inbox,
    serve: Callable[..., int],
    server_context: ssl.SSLContext,
    tmp_path: Path,
    switch: str,
) -> None:
    port = serve(tls_context=server_context, require_starttls=True, auth_required=True)
    url = f"smtp://us%40er:{URL_PASSWORD}@127.0.0.1:{port}?starttls={switch}"
    send(url, tmp_path)
    assert inbox.logins == [(b"us@er", PASSWORD.encode())]
    assert inbox.encrypted == [True]


def test_smtps_and_login(
    inbox: Inbox, serve: Callable[..., int], server_context: ssl.SSLContext, tmp_path: Path
) -> None:
    port = serve(ssl_context=server_context, auth_require_tls=False)
    url = f"smtps://user:{URL_PASSWORD}@127.0.0.1:{port}"
    send(url, tmp_path)
    assert inbox.logins == [(b"user", PASSWORD.encode())]
    assert len(inbox.messages) == 1


def test_a_certificate_that_is_not_trusted_stops_the_sending(
    inbox: Inbox, serve: Callable[..., int], tmp_path: Path
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    port = serve(tls_context=context)
    with pytest.raises(MailFailed) as caught:
        send(f"smtp://user:{URL_PASSWORD}@127.0.0.1:{port}?starttls=1", tmp_path)
    assert not caught.value.permanent
    assert inbox.logins == inbox.messages == []


@pytest.mark.parametrize(
    ("recipient", "data", "permanent"),
    [
        ("550 no such user", "250 OK", True),
        ("450 busy", "250 OK", False),
        ("250 OK", "554 spam", True),
        ("250 OK", "451 later", False),
    ],
)
def test_refusals_say_whether_to_try_again(
    inbox: Inbox,
    serve: Callable[..., int],
    tmp_path: Path,
    recipient: str,
    data: str,
    permanent: bool,
) -> None:
    inbox.recipient_response, inbox.data_response = recipient, data
    with pytest.raises(MailFailed) as caught:
        send(f"smtp://127.0.0.1:{serve()}", tmp_path)
    assert caught.value.permanent is permanent


def test_a_wrong_password_or_an_absent_server_is_worth_another_try(
    inbox: Inbox, serve: Callable[..., int], tmp_path: Path
) -> None:
    port = serve(auth_require_tls=False)
    for url in (f"smtp://user:wrong@127.0.0.1:{port}", f"smtp://127.0.0.1:{find_free_port()}"):
        with pytest.raises(MailFailed) as caught:
            send(url, tmp_path)
        assert not caught.value.permanent
        assert "wrong" not in str(caught.value)


@pytest.mark.parametrize(
    "to",
    [
        *["", "anna", "anna@", "@example.com", "a@b@c", "anna@example.com, eve@example.com"],
        *["anna@example.com\r\nBcc: eve@example.com", "Anna <anna@example.com>", "a b@b.com"],
        # These cannot be encoded.
        *["anna@" + "ü" * 300 + ".example", "\ud800@example.com", "a@\ud800"],
    ],
)
def test_recipients_that_are_not_one_address_are_refused(tmp_path: Path, to: str) -> None:
    with pytest.raises(MailRefused):
        send("", tmp_path, to)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r", "\x00", "\x0b"])
def test_headers_cannot_be_smuggled_in(tmp_path: Path, end: str) -> None:
    with pytest.raises(MailRefused):
        send("", tmp_path, subject=f"Hello{end}Bcc: eve@example.com")
    with pytest.raises(MailRefused):
        send("", tmp_path, message_id=f"x{end}Bcc: eve@example.com")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("message_id", ["../../etc/cron", "a/b", "x@y", "ü", " ", "a" * 201])
def test_message_ids_are_plain_names(tmp_path: Path, message_id: str) -> None:
    with pytest.raises(MailRefused):
        send("", tmp_path, message_id=message_id)


def test_odd_texts_are_sent_all_the_same(tmp_path: Path) -> None:
    text = "\ud800 \x00 \u202e\nFrom here\n.\nBcc: eve@example.com\n" + "x" * 5000
    Mailer("", tmp_path, SENDER).send("anna@example.com", "\udfff", text, text)
    message = in_folder(tmp_path)
    assert message["Bcc"] is None
    assert get_body(message, "plain").rstrip("\n") == text.replace("\ud800", "?")
    assert message["Subject"] == "?"
