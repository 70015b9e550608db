"""An SFTP server: asyncssh serves a folder, so that client and server share no code."""

import asyncio
import os
import threading
from functools import partial
from pathlib import Path
from typing import Any

import asyncssh

PASSWORD = "never-in-a-message"


class Users(asyncssh.SSHServer):
    """Lets the user `reader` sign in."""

    def __init__(self, server: "Server") -> None:
        self._server = server

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == ("reader", PASSWORD)

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username == "reader" and key.public_data == self._server.key.public_data


class Server:
    """An SSH server whose root is a folder, in a thread with an event loop."""

    def __init__(
        self, folder: Path, sftp_class: type[asyncssh.SFTPServer] = asyncssh.SFTPServer
    ) -> None:
        self.folder = folder
        self._sftp_class = sftp_class
        self.key = asyncssh.generate_private_key("ssh-ed25519")
        self.host_key = asyncssh.generate_private_key("ssh-ed25519")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._acceptor = self._run(self._listen())
        self.port: int = self._acceptor.get_port()

    def build_settings(self, path: str = "/") -> dict[str, Any]:
        """Return the settings with which `reader` opens a folder on this server."""
        return {
            "host": "127.0.0.1",
            "port": self.port,
            "path": path,
            "username": "reader",
            "password": PASSWORD,
            "host_key": self.host_key.get_fingerprint(),
        }

    def stop(self) -> None:
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    async def _listen(self) -> asyncssh.SSHAcceptor:
        other_key = asyncssh.generate_private_key("ecdsa-sha2-nistp256")
        return await asyncssh.listen(
            "127.0.0.1",
            0,
            server_factory=partial(Users, self),
            server_host_keys=[self.host_key, other_key],
            sftp_factory=partial(self._sftp_class, chroot=os.fsencode(self.folder)),
        )

    async def _close(self) -> None:
        self._acceptor.close()
        await self._acceptor.wait_closed()

    def _run(self, task: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(task, self._loop).result(30)
