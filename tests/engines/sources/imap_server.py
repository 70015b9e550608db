"""An IMAP server: pymap serves a mailbox in a separate process."""

import imaplib
import shutil
import subprocess
import sys
from pathlib import Path

from tests.engines.sources.hosts import find_closed_port
from tests.engines.sources.network import connect_freely
from tests.factories.waiting import wait_until

MAIL = b"From: a@b.example\r\nSubject: Invoice %d\r\n\r\nTotal: %d EUR\r\n"
USER, PASSWORD = "demouser", "demopass"


class Server:
    """An IMAP server with the demonstration data of pymap."""

    def __init__(self) -> None:
        self.port = find_closed_port()
        program = Path(sys.executable).with_name("pymap")
        assert shutil.which(program), "make installs it"
        address = ["--host", "127.0.0.1", "--port", str(self.port)]
        self._process = subprocess.Popen(
            [str(program), *address, "dict", "--demo-data"], stderr=subprocess.DEVNULL
        )
        wait_until(self._is_ready, "the server to answer")

    def stop(self) -> None:
        self._process.kill()
        self._process.wait(10)

    def sign_in(self) -> imaplib.IMAP4:
        with connect_freely():
            client = imaplib.IMAP4("127.0.0.1", self.port, timeout=30)
        client.login(USER, PASSWORD)
        return client

    def _is_ready(self) -> bool:
        try:
            self.sign_in().logout()
        except OSError:
            return False
        return True


class Mailbox:
    """A new folder in the mailbox."""

    def __init__(self, server: Server, name: str) -> None:
        self.name = name
        self._client = server.sign_in()
        self._client.create(name)

    def add(self, number: int) -> bytes:
        mail = MAIL % (number, number)
        self._client.append(self.name, "", "", mail)
        return mail

    def delete(self, number: int) -> None:
        self._client.select(self.name)
        self._client.store(str(number), "+FLAGS", r"(\Deleted)")
        self._client.expunge()

    def is_seen(self) -> bool:
        self._client.select(self.name, readonly=True)
        return bool(self._client.search(None, "SEEN")[1][0])

    def close(self) -> None:
        self._client.logout()
