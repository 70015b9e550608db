"""Mail servers for the tests of emails."""

from collections.abc import Callable, Iterator

import pytest
from aiosmtpd.controller import Controller

from tests.factories.mail import Inbox, build_inbox_server


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
