"""Adapt the standard IMAP client to connections that a `Network` opens, and limit its memory."""

import imaplib
import re
import socket
import ssl
from base64 import b64encode
from typing import TYPE_CHECKING

from app.engines.sources import limits
from app.engines.sources.deadlines import TimeBudget, shut_down
from app.engines.sources.failures import build_protocol_error
from app.engines.sources.model import HostError, HostErrorKind, Network, ObjectMissing
from app.engines.sources.tls import wrap_socket

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_STARTTLS_PORT = 143
_MAX_RESPONSE_BYTES = 16 * 1024 * 1024
"""The maximum size in bytes of all responses to one command."""
_EMPTY_BODY = re.compile(rb'\bBODY\[\](?:<\d+>)? (?:""|NIL)')


class ImapClient(imaplib.IMAP4):
    """A connection to a mail server.

    With TLS, a connection to port 143 begins in plain text and starts TLS before signing in
    (STARTTLS). On all other ports, connections use TLS from the beginning. `context` is None for a
    connection without TLS.

    Attributes:
        message_count: number of messages in the open folder.
        has_new_numbers: whether sequence numbers have changed because messages were deleted. The
            caller resets this flag.
    """

    def __init__(
        self, network: Network, host: str, port: int, context: ssl.SSLContext | None
    ) -> None:
        self._network = network
        self._context = context
        self._received_bytes = 0
        self.connection: socket.socket | None = None
        self.message_count = 0
        self.has_new_numbers = False
        with TimeBudget(limits.OPERATION_SECONDS, self.shut_down).spend():
            super().__init__(host, port, limits.CONNECT_SECONDS)

    def upgrade_to_tls(self) -> None:
        """Start TLS on port 143 if there is a context. Raises HostError if the server refuses."""
        if self._context is not None and self.port == _STARTTLS_PORT:
            if self.xatom("STARTTLS")[0] != "OK":
                message = "The host does not offer TLS. Ask its operator, or set `tls` to false."
                raise HostError(HostErrorKind.PROTOCOL, message)
            self.sock = wrap_socket(self._context, self.sock, self.host, self._set_connection)
            # Plain text that was received before TLS is dropped.
            self.file = self.sock.makefile("rb")
            self.capabilities = tuple(str(self.capability()[1][-1], "ascii").upper().split())

    def shut_down(self) -> None:
        """Shut down the connection from another thread, so that operations stop waiting."""
        shut_down(self.connection)

    def read(self, size: int) -> bytes:
        """Read a literal of `size` bytes. Raises `abort` if the responses are too large."""
        self._count_received_bytes(size)
        return bytes(super().read(size))

    def readline(self) -> bytes:
        """Read a line. Raises `abort` if the responses are too large."""
        line = super().readline()
        self._count_received_bytes(len(line))
        return line

    def send(self, data: "ReadableBuffer") -> None:
        """Send a command, and count the bytes of its responses from zero."""
        self._received_bytes = 0
        super().send(data)

    def sign_in(self, username: str, password: str) -> None:
        """Sign in. AUTHENTICATE is preferred, because LOGIN supports only ASCII characters."""
        if "AUTH=PLAIN" in self.capabilities:
            credentials = f"\0{username}\0{password}".encode()
            self.authenticate("PLAIN", lambda _: credentials)
        else:
            self.login(quote(username), password)

    def fetch_part(self, uid: int, offset: int) -> bytes:
        """Fetch the part of a message that begins at `offset`, at most `CHUNK_BYTES` bytes.

        Returns empty bytes after the end of the message. Raises ObjectMissing if the message does
        not exist, and HostError if the server sends a larger part.
        """
        status, data = self.uid("FETCH", str(uid), f"(BODY.PEEK[]<{offset}.{limits.CHUNK_BYTES}>)")
        parts = [item[1] for item in data if isinstance(item, tuple)]
        # Some servers, such as Cyrus, send an empty part as a quoted string.
        if not parts and offset > 0 and any(_EMPTY_BODY.search(item or b"") for item in data):
            return b""
        if status != "OK" or not parts:
            raise ObjectMissing
        if len(parts[0]) > limits.CHUNK_BYTES:
            raise build_protocol_error()
        return bytes(parts[0])

    def _create_socket(self, timeout: float | None) -> socket.socket:
        connection = self._network.connect(self.host, self.port, timeout or limits.CONNECT_SECONDS)
        connection.settimeout(limits.IDLE_SECONDS)
        self._set_connection(connection)
        if self._context is not None and self.port != _STARTTLS_PORT:
            return wrap_socket(self._context, connection, self.host, self._set_connection)
        return connection

    def _set_connection(self, connection: socket.socket) -> None:
        self.connection = connection

    def _append_untagged(self, typ: str, dat: bytes) -> None:
        """Store an untagged response; for EXISTS and EXPUNGE, only update the attributes."""
        if typ == "EXISTS":
            self.message_count = int(dat)
        elif typ == "EXPUNGE":
            self.message_count -= 1
            self.has_new_numbers = True
        else:
            super()._append_untagged(typ, dat)  # type: ignore[misc]

    def _count_received_bytes(self, size: int) -> None:
        self._received_bytes += size
        if self._received_bytes > _MAX_RESPONSE_BYTES:
            raise self.abort("the response is too large")


def quote(text: str) -> str:
    """Quote text as an IMAP string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def encode_folder(name: str) -> str:
    """Encode a folder name as a quoted string in IMAP's modified UTF-7 (RFC 3501, 5.1.3)."""
    parts: list[str] = []
    run = ""  # the preceding characters that are not printable ASCII
    for char in f"{name}\0":  # the NUL ends the last run
        if " " <= char <= "~" or char == "\0":
            parts.append(_encode_run(run))
            parts.append("&-" if char == "&" else char)
            run = ""
        else:
            run += char
    return quote("".join(parts).removesuffix("\0"))


def _encode_run(text: str) -> str:
    if not text:
        return ""
    encoded = b64encode(text.encode("utf-16-be", "replace")).decode()
    return f"&{encoded.rstrip('=').replace('/', ',')}-"
