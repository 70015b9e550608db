"""The FTP client of the standard library, over guarded connections.

Data connections go to the host of the control connection, whatever address the server names.
"""

import ftplib
import socket
import ssl

from app.engines.sources import limits
from app.engines.sources.deadlines import shut_down
from app.engines.sources.model import Network, SourceError, SourceErrorKind
from app.engines.sources.tls import wrap

_IMPLICIT_TLS_PORT = 990
_MAX_ANSWER_LINES = 1000


class FtpClient(ftplib.FTP):
    """A control connection whose names are bytes, written as Latin-1.

    Args:
        network: opens all connections.
        context: for TLS, which then protects passwords and documents.
    """

    def __init__(self, network: Network, context: ssl.SSLContext | None) -> None:
        super().__init__(encoding="latin-1")
        self._network = network
        self._context = context
        self._data: socket.socket | None = None
        self._lines = 0

    def open(self, host: str, port: int) -> None:
        """Connect, and protect the connection with TLS if there is a context."""
        self.host = host
        self.port = port
        self._use(self._network.connect(host, port, limits.CONNECT_SECONDS))
        if self._context is not None and port == _IMPLICIT_TLS_PORT:
            self._protect()
        self.welcome = self.getresp()
        if self._context is not None and port != _IMPLICIT_TLS_PORT:
            try:
                self.voidcmd("AUTH TLS")
            except ftplib.error_perm:
                message = "The host does not offer TLS. Ask its operator, or switch `tls` off."
                raise SourceError(SourceErrorKind.PROTOCOL, message) from None
            self._protect()

    def enable_protection(self) -> None:
        """Use TLS for data connections too."""
        if self._context is not None:
            self.voidcmd("PBSZ 0")
            self.voidcmd("PROT P")

    def start_transfer(self, command: str) -> socket.socket:
        """Open a data connection and start a transfer over it. The caller closes it."""
        # EPSV is also right with IPv6; old servers know only PASV.
        try:
            port = ftplib.parse229(self.sendcmd("EPSV"), ("", 0))[1]
        except ftplib.error_perm:
            port = ftplib.parse227(self.sendcmd("PASV"))[1]
        connection = self._network.connect(self.host, port, limits.CONNECT_SECONDS)
        self._data = connection
        try:
            connection.settimeout(limits.IDLE_SECONDS)
            response = self.sendcmd(command)
            if response[0] == "2":  # some servers send one before the start
                response = self.getresp()
            _check_start(response)
            if self._context is not None:
                connection = self._wrap_data(self._context, connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def putcmd(self, line: str) -> None:
        """Send a command."""
        self._lines = 0
        super().putcmd(line)

    def getline(self) -> str:
        """Return a line of an answer, which has a limited number of them."""
        self._lines += 1
        if self._lines > _MAX_ANSWER_LINES:
            raise ftplib.error_proto
        return super().getline()

    def shut_down(self) -> None:
        """End all waiting operations, from another thread."""
        shut_down(self.sock)
        shut_down(self._data)

    def _protect(self) -> None:
        if self.sock is not None and self._context is not None:
            wrap(self._context, self.sock, self.host, self._use)

    def _wrap_data(self, context: ssl.SSLContext, connection: socket.socket) -> ssl.SSLSocket:
        def use(wrapped: socket.socket) -> None:
            self._data = wrapped

        # Many servers demand the session of the control connection, as a proof of identity.
        session = self.sock.session if isinstance(self.sock, ssl.SSLSocket) else None
        return wrap(context, connection, self.host, use, session)

    def _use(self, connection: socket.socket) -> None:
        connection.settimeout(limits.IDLE_SECONDS)
        self.sock = connection
        self.file = connection.makefile("r", encoding=self.encoding)


def _check_start(response: str) -> None:
    if response[0] != "1":
        raise ftplib.error_reply(response)
