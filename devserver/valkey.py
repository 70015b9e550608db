"""Run an embedded Valkey from a Python package, with one data folder, on a loopback port."""

import os
import secrets
import signal
import socket
from pathlib import Path

from devserver.binaries import find_valkey_binary
from devserver.process import Launch, read_or_create
from devserver.server import EmbeddedServer


class EmbeddedValkey(EmbeddedServer):
    """Valkey on 127.0.0.1 with an append-only file in `data_dir`/files, synced every second.

    If the memory is full, Valkey refuses writes instead of evicting keys, because queues must not
    lose entries. The password is generated once and stored in `data_dir`. If root starts the
    server, it runs as `nobody`.
    """

    name = "Valkey"
    stop_signals = ((signal.SIGTERM, 20.0),)

    def __init__(self, data_dir: Path, port: int | None = None) -> None:
        super().__init__(data_dir, port)
        self._files = self._folder / "files"
        self.log = self._folder / "valkey.log"

    @property
    def url(self) -> str:
        """Return the URL of Valkey's database 0, with the password."""
        return f"redis://:{self._password}@127.0.0.1:{self.port}/0"

    @property
    def _password(self) -> str:
        return read_or_create(self._folder / "password", lambda: secrets.token_urlsafe(24))

    def prepare(self) -> Launch:
        """Create the data folder and choose the port, and return how to start the server.

        Raises OSError if the folder cannot be created.
        """
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._files.mkdir(exist_ok=True, mode=0o700)
        if self._account is not None:
            os.chown(self._files, self._account.uid, self._account.gid)
        self._choose_port()
        # Standard input passes the configuration, so that no process list shows the password.
        return Launch(
            argv=(str(find_valkey_binary(self._account)), "-"),
            cwd=self._files,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
            account=self._account,
            stdin=self._build_configuration().encode("ascii"),
            log=self.log,
            death_signal=signal.SIGTERM,
        )

    def _build_configuration(self) -> str:
        lines = (
            "bind 127.0.0.1",
            f"port {self.port}",
            "protected-mode yes",
            f"requirepass {self._password}",
            "dir .",
            "appendonly yes",
            "appendfsync everysec",
            'save ""',
            "maxmemory-policy noeviction",
            "timeout 0",
            "tcp-keepalive 60",
            "loglevel notice",
            "daemonize no",
        )
        return "\n".join(lines) + "\n"

    def check_ready(self) -> bool:
        """Return whether the server responds to PING without an error.

        While the server is loading its data, it responds with an error.
        """
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1.0) as connection:
                connection.sendall(
                    _encode_command("AUTH", self._password) + _encode_command("PING")
                )
                with connection.makefile("rb") as stream:
                    replies = [stream.readline(), stream.readline()]
        except OSError:
            return False
        self._was_ready = replies == [b"+OK\r\n", b"+PONG\r\n"]
        return self._was_ready


def _encode_command(*words: str) -> bytes:
    """Encode a command as an array in the Redis protocol (RESP2)."""
    parts = [f"${len(word.encode())}\r\n{word}\r\n" for word in words]
    return f"*{len(words)}\r\n{''.join(parts)}".encode()
