"""An FTP server: pyftpdlib serves a folder to the user `reader`."""

import logging
import threading
from pathlib import Path
from typing import Any

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.ioloop import IOLoop
from pyftpdlib.servers import FTPServer

PASSWORD = "never-in-a-message"

logging.getLogger("pyftpdlib").setLevel(logging.ERROR)


class Server:
    """An FTP server with its own loop, in a thread."""

    def __init__(self, folder: Path, handler: type[FTPHandler], **members: Any) -> None:
        authorizer = DummyAuthorizer()
        authorizer.add_user("reader", PASSWORD, str(folder), perm="elr")
        own = type("Handler", (handler,), {"authorizer": authorizer, "banner": "ready", **members})
        self._loop = IOLoop()
        self._server = FTPServer(("127.0.0.1", 0), own, ioloop=self._loop)
        self.port: int = self._server.address[1]
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._is_stopping.set()
        self._thread.join(10)

    def _serve(self) -> None:
        while not self._is_stopping.is_set():
            self._loop.loop(timeout=0.05, blocking=False)
        self._server.close_all()
