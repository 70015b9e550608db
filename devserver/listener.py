"""The API's listening socket, which the supervisor owns, so that it outlives the API."""

import errno
import socket
from typing import Self

from app.kit.settings import Settings

_BACKLOG = 2048


class ListenError(Exception):
    """The API cannot listen at its address. The message has the reason."""


class Listener:
    """A bound socket that refuses connections until `listen`."""

    def __init__(self, settings: Settings) -> None:
        where = f"{settings.host}:{settings.port}"
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(
                settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
        except OSError:
            raise ListenError(f"HOST {settings.host} is no address of this machine") from None
        self._socket = socket.socket(family, kind, protocol)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind(address)
        except OSError as error:
            self._socket.close()
            raise ListenError(_reason(error, where)) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def listen(self) -> None:
        """Accept connections. Raises ListenError if another program listens there already."""
        try:
            self._socket.listen(_BACKLOG)
        except OSError as error:
            raise ListenError(f"cannot listen: {error.strerror}") from None

    def fileno(self) -> int:
        """Return the descriptor of the socket."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close the socket. Connections are refused when all other processes have closed it too."""
        self._socket.close()


def _reason(error: OSError, where: str) -> str:
    if isinstance(error, PermissionError):
        return f"this user may not listen on {where}; choose a PORT above 1023"
    if error.errno == errno.EADDRINUSE:
        return f"{where} is taken by another program; stop it or choose another PORT"
    return f"cannot listen on {where}: {error.strerror}"
