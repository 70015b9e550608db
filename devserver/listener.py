"""The API's listening socket, which the supervisor owns, so that it outlives the API."""

import errno
import socket
from typing import Self

from app.kit.settings import Settings

_BACKLOG = 2048


class ListenError(Exception):
    """The API cannot listen on its address. The message contains the reason."""


class Listener:
    """A socket that is bound to the API's address, and refuses connections until `listen`.

    Raises ListenError if the address cannot be used.
    """

    def __init__(self, settings: Settings) -> None:
        location = f"{settings.host}:{settings.port}"
        try:
            family, socket_type, protocol, _, address = socket.getaddrinfo(
                settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
        except OSError:
            raise ListenError(f"HOST {settings.host} is not an address of this machine") from None
        self._socket = socket.socket(family, socket_type, protocol)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind(address)
        except OSError as error:
            self._socket.close()
            raise ListenError(_describe_error(error, location)) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def listen(self) -> None:
        """Listen for connections. Raises ListenError if another program uses the address."""
        try:
            self._socket.listen(_BACKLOG)
        except OSError as error:
            raise ListenError(f"cannot listen: {error.strerror}") from None

    def fileno(self) -> int:
        """Return the socket's file descriptor."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close the socket in this process.

        Connections are refused after all processes have closed the socket.
        """
        self._socket.close()


def _describe_error(error: OSError, location: str) -> str:
    if isinstance(error, PermissionError):
        return f"this user is not allowed to listen on {location}; choose a PORT above 1023"
    if error.errno == errno.EADDRINUSE:
        return f"{location} is already used by another program; stop it or choose another PORT"
    return f"cannot listen on {location}: {error.strerror}"
