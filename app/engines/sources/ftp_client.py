"""Adapt the FTP client from the standard library to connections that a `Network` opens.

Data connections go to the host of the control connection, regardless of the address that the server
sends.
"""

import ftplib
import socket
import ssl

from app.engines.sources import limits
from app.engines.sources.deadlines import shut_down
from app.engines.sources.model import HostError, HostErrorKind, Network
from app.engines.sources.tls import wrap_socket

_IMPLICIT_TLS_PORT = 990
_MAX_RESPONSE_LINES = 1000


class FtpClient(ftplib.FTP):
    """A control connection to an FTP server. File names are bytes, represented as Latin-1 text.

    `context` is None for connections without TLS.
    """

    def __init__(self, network: Network, context: ssl.SSLContext | None) -> None:
        super().__init__(encoding="latin-1")
        self._network = network
        self._context = context
        self._data: socket.socket | None = None
        self._line_count = 0

    def open(self, host: str, port: int) -> None:
        """Open the control connection, and protect it with TLS if there is a context.

        Raises HostError if the server does not offer TLS.
        """
        self.host = host
        self.port = port
        self._set_socket(self._network.connect(host, port, limits.CONNECT_SECONDS))
        if self._context is not None and port == _IMPLICIT_TLS_PORT:
            self._start_tls()
        self.welcome = self.getresp()
        if self._context is not None and port != _IMPLICIT_TLS_PORT:
            try:
                self.voidcmd("AUTH TLS")
            except ftplib.error_perm:
                message = "The host does not offer TLS. Ask its operator, or set `tls` to false."
                raise HostError(HostErrorKind.PROTOCOL, message) from None
            self._start_tls()

    def enable_protection(self) -> None:
        """Enable TLS protection for data connections if there is a context."""
        if self._context is not None:
            self.voidcmd("PBSZ 0")
            self.voidcmd("PROT P")

    def start_transfer(self, command: str) -> socket.socket:
        """Open a data connection and start a transfer. The caller must close the connection."""
        # EPSV also supports IPv6; old servers support only PASV.
        try:
            port = ftplib.parse229(self.sendcmd("EPSV"), ("", 0))[1]
        except ftplib.error_perm:
            port = ftplib.parse227(self.sendcmd("PASV"))[1]
        connection = self._network.connect(self.host, port, limits.CONNECT_SECONDS)
        self._data = connection
        try:
            connection.settimeout(limits.IDLE_SECONDS)
            response = self.sendcmd(command)
            # Some servers send a success response before the transfer starts.
            if response[0] == "2":
                response = self.getresp()
            _check_transfer_started(response)
            if self._context is not None:
                connection = self._wrap_data_connection(self._context, connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def putcmd(self, line: str) -> None:
        """Send a command, and count the lines of its response from zero."""
        self._line_count = 0
        super().putcmd(line)

    def getline(self) -> str:
        """Return a line of a response. Raises error_proto if the response has too many lines."""
        self._line_count += 1
        if self._line_count > _MAX_RESPONSE_LINES:
            raise ftplib.error_proto
        return super().getline()

    def shut_down(self) -> None:
        """Shut down the connections from another thread, so that operations stop waiting."""
        shut_down(self.sock)
        shut_down(self._data)

    def _start_tls(self) -> None:
        if self.sock is not None and self._context is not None:
            wrap_socket(self._context, self.sock, self.host, self._set_socket)

    def _wrap_data_connection(
        self, context: ssl.SSLContext, connection: socket.socket
    ) -> ssl.SSLSocket:
        def set_data_socket(tls_socket: socket.socket) -> None:
            self._data = tls_socket

        # Many servers require that data connections resume the control connection's TLS session.
        session = self.sock.session if isinstance(self.sock, ssl.SSLSocket) else None
        return wrap_socket(context, connection, self.host, set_data_socket, session)

    def _set_socket(self, connection: socket.socket) -> None:
        connection.settimeout(limits.IDLE_SECONDS)
        self.sock = connection
        self.file = connection.makefile("r", encoding=self.encoding)


def _check_transfer_started(response: str) -> None:
    if response[0] != "1":
        raise ftplib.error_reply(response)
