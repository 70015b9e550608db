"""Mail servers for the tests of emails, and the log lines of a test."""

import json
import logging
import ssl
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import trustme
from aiosmtpd.controller import Controller

from app.kit.logging import clear_contextvars, configure
from tests.factories.mail import Inbox, build_inbox_server

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def serve(inbox: Inbox) -> Iterator[Callable[..., int]]:
    """Return a function that starts a server for the inbox, and returns its port."""
    running: list[Controller] = []

    def start(**options: object) -> int:
        controller = build_inbox_server(inbox, authenticator=inbox.authenticate, **options)
        controller.start()
        running.append(controller)
        return int(controller.port)

    yield start
    inbox.hold = ""
    for controller in running:
        controller.stop()


@pytest.fixture
def server_context(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> ssl.SSLContext:
    """Return a TLS context for 127.0.0.1, and make clients trust its certificate authority."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    trusted = tmp_path_factory.mktemp("authority") / "authority.pem"
    authority.cert_pem.write_to_path(str(trusted))
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    return context


@pytest.fixture
def json_logs() -> Iterator[None]:
    """Write log lines as JSON, from the level INFO."""
    configure("INFO", "json")
    # RQ sets the level of its logger when a worker starts in another test.
    logging.getLogger("rq.worker").setLevel(logging.NOTSET)
    clear_contextvars()
    yield
    clear_contextvars()
    configure("WARNING", "json")


@pytest.fixture
def lines(json_logs: None, capfd: pytest.CaptureFixture[str]) -> Lines:
    """Return a function that returns the log lines that were written since its last call."""

    def read() -> list[dict[str, Any]]:
        return [json.loads(line) for line in capfd.readouterr().err.splitlines()]

    return read
