"""Read documents from an FTP server, with or without TLS."""

import ftplib
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any

from app.engines.sources import limits
from app.engines.sources.deadlines import TimeBudget
from app.engines.sources.failures import build_protocol_error, translate_errors
from app.engines.sources.folders import FolderItem, FolderSource
from app.engines.sources.ftp_client import FtpClient
from app.engines.sources.ftp_lines import (
    is_entry_line,
    parse_list_line,
    parse_mlsd_line,
    parse_time,
)
from app.engines.sources.model import HostError, HostErrorKind, Network, ObjectMissing
from app.engines.sources.paths import split_path
from app.engines.sources.tls import build_context

_MAX_LINE_BYTES = limits.MAX_NAME_BYTES + 1024
"""The maximum length in bytes of a line in a folder listing; longer lines are skipped. The limit
leaves room for the longest name, and for the other properties of an entry."""
_PROBE_SECONDS = 20.0
"""The idle time after which a connection is tested before use; the server may have closed it."""
_COMPLETE_CODES = ("226", "250")


def open_source(settings: Mapping[str, Any], network: Network) -> "FtpSource":
    """Sign in to an FTP server, and open a folder on it as a source.

    Raises HostError if the CA certificate is invalid, or if connecting or signing in fails.
    """
    source = FtpSource(settings, network)
    source.connect()
    return source


class FtpSource(FolderSource):
    """A folder on an FTP server. The next operation reopens a lost connection."""

    def __init__(self, settings: Mapping[str, Any], network: Network) -> None:
        self._settings = settings
        self._network = network
        self._context = build_context(settings)
        self._client: FtpClient | None = None
        self._root = b""
        self._supports_mlsd = False
        self._used_at = 0.0

    def connect(self) -> FtpClient:
        """Connect and sign in, unless the connection is still open, and return the client."""
        if self._client is not None and not self._is_connected(self._client):
            self.close()
        if self._client is None:
            client = FtpClient(self._network, self._context)
            try:
                with _translate_ftp_errors(), self._build_budget(client).spend():
                    self._sign_in(client)
            except BaseException:
                client.close()
                raise
            self._client = client
        self._used_at = monotonic()
        return self._client

    @contextmanager
    def open(self, path: str) -> Iterator[Iterator[bytes]]:
        """Open a document to read it in chunks."""
        target = self._build_server_path(path)
        if not path:
            raise ObjectMissing
        client = self.connect()
        budget = self._build_budget(client, limits.READ_SECONDS)
        with self._run_commands(budget, refusal_means_missing=True):
            size = _get_size(client, target)
            data_connection = client.start_transfer(f"RETR {target}")
        chunks = _DocumentChunks(client, data_connection, size, budget)
        try:
            yield iter(chunks)
        finally:
            data_connection.close()
            # Servers respond differently to an aborted transfer, so the connection is not reused.
            if not chunks.is_complete:
                self.close()
            self._used_at = monotonic()

    def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _build_budget(self, client: FtpClient, seconds: float | None = None) -> TimeBudget:
        return TimeBudget(seconds or limits.OPERATION_SECONDS, client.shut_down)

    def _is_connected(self, client: FtpClient) -> bool:
        if monotonic() - self._used_at < _PROBE_SECONDS:
            return client.sock is not None
        with suppress(HostError), _translate_ftp_errors(), self._build_budget(client).spend():
            client.voidcmd("NOOP")
            return True
        return False

    def _sign_in(self, client: FtpClient) -> None:
        settings = self._settings
        client.open(settings["host"], settings.get("port", 21))
        # User names and passwords are sent as UTF-8, the encoding of file names on current servers.
        client.login(
            _represent_utf8_as_latin1(settings.get("username", "")),
            _represent_utf8_as_latin1(settings.get("password", "")),
        )
        client.enable_protection()
        client.voidcmd("TYPE I")
        with suppress(ftplib.error_perm):
            self._supports_mlsd = "MLST" in client.sendcmd("FEAT").upper()
        home = ftplib.parse257(client.sendcmd("PWD")).encode("latin-1") or b"/"
        path = str(settings.get("path", "")).encode("utf-8", "replace")
        self._root = path if path.startswith(b"/") else home.rstrip(b"/") + b"/" + path
        self._root = self._root.rstrip(b"/")

    def _build_server_path(self, path: str) -> str:
        names = split_path(path)
        # A line break would end the command.
        if names is None or any(b"\r" in name or b"\n" in name for name in names):
            raise ObjectMissing
        return (b"/".join([self._root, *names]) or b"/").decode("latin-1")

    def _read_folder(self, path: str) -> Iterator[FolderItem]:
        target = self._build_server_path(path)
        client = self.connect()
        budget = self._build_budget(client)
        with self._run_commands(budget, refusal_means_missing=True):
            # LIST gets no path, because servers would interpret options and `*` in the path.
            client.cwd(target)
        if self._supports_mlsd:
            with self._run_commands(budget):
                yield from filter(None, map(parse_mlsd_line, _read_lines(client, "MLSD")))
        else:
            with self._run_commands(budget):
                yield from _read_list_items(client)
        self._used_at = monotonic()

    def _complete_item(self, path: str, item: FolderItem) -> FolderItem:
        """Return the item, with the exact modification time if it is a document from LIST."""
        if self._supports_mlsd or item.is_folder:
            return item
        try:
            target = self._build_server_path(path)
        except ObjectMissing:  # The name cannot be sent.
            return item
        client = self.connect()
        with self._run_commands(self._build_budget(client)):
            return _add_modification_time(client, target, item)

    @contextmanager
    def _run_commands(
        self, budget: TimeBudget, *, refusal_means_missing: bool = False
    ) -> Iterator[None]:
        """Limit the time of the commands in the context, and translate their errors.

        A HostError closes the connection: FTP responses have no IDs, so later responses could
        belong to the failed command.
        """
        try:
            with _translate_ftp_errors(refusal_means_missing=refusal_means_missing), budget.spend():
                yield
        except HostError:
            self.close()
            raise


def _represent_utf8_as_latin1(text: str) -> str:
    return text.encode("utf-8", "replace").decode("latin-1")


def _read_lines(client: FtpClient, command: str) -> Iterator[str]:
    """Yield the lines of a folder listing, except lines that are too long for a valid name."""
    with client.start_transfer(command) as connection, connection.makefile("rb") as file:
        is_continued = False
        while line := file.readline(_MAX_LINE_BYTES):
            is_complete = line.endswith(b"\n") or len(line) < _MAX_LINE_BYTES
            if is_complete and not is_continued:
                yield line.decode("latin-1").rstrip("\r\n")
            is_continued = not is_complete
    if client.getresp()[:3] not in _COMPLETE_CODES:
        raise ftplib.error_reply


def _get_size(client: FtpClient, path: str) -> int | None:
    """Return the size of a file, or None if the server does not report the size."""
    with suppress(ftplib.error_perm):
        return client.size(path)
    return None


def _read_list_items(client: FtpClient) -> Iterator[FolderItem]:
    """Yield the items of a folder. Raises HostError if all listed entries have unknown formats."""
    has_known_lines, has_unknown_lines = False, False
    for line in _read_lines(client, "LIST"):
        item = parse_list_line(line)
        if item is not None:
            has_known_lines = True
            yield item
        elif is_entry_line(line):
            has_unknown_lines = True
    if has_unknown_lines and not has_known_lines:
        message = "The host lists folders in a format that this service does not support."
        raise HostError(HostErrorKind.PROTOCOL, message)


def _add_modification_time(client: FtpClient, path: str, item: FolderItem) -> FolderItem:
    """Return the item with the modification time from MDTM, which its version also contains."""
    modified: float | None = None
    with suppress(ftplib.error_perm):
        modified = parse_time(client.sendcmd(f"MDTM {path}").partition(" ")[2])
    return item._replace(version=f"{item.size}-{modified}", modified=modified)


@dataclass(slots=True)
class _DocumentChunks:
    """Iterates over the content of a document. `is_complete` is True after the whole transfer."""

    client: FtpClient
    data_connection: socket.socket
    size: int | None
    budget: TimeBudget
    is_complete: bool = False

    def __iter__(self) -> Iterator[bytes]:
        received_bytes = 0
        while chunk := self._read():
            received_bytes += len(chunk)
            yield chunk
        with _translate_ftp_errors(), self.budget.spend():
            self.data_connection.close()
            if self.client.getresp()[:3] not in _COMPLETE_CODES:
                raise ftplib.error_reply
        self.is_complete = True
        if self.size not in (None, received_bytes):
            raise ObjectMissing

    def _read(self) -> bytes:
        with _translate_ftp_errors(), self.budget.spend():
            return self.data_connection.recv(limits.CHUNK_BYTES)


@contextmanager
def _translate_ftp_errors(*, refusal_means_missing: bool = False) -> Iterator[None]:
    """Translate errors from ftplib to HostError or ObjectMissing.

    Args:
        refusal_means_missing: whether a refusal (a response with a code from 550 to 559) means
            that the file or folder does not exist.
    """
    try:
        with translate_errors():
            yield
    except ftplib.Error as error:
        raise _build_ftp_error(error, refusal_means_missing=refusal_means_missing) from None
    except ValueError:
        raise build_protocol_error() from None


def _build_ftp_error(error: ftplib.Error, *, refusal_means_missing: bool) -> Exception:
    code = str(error)[:3]
    if code in ("530", "331", "332"):
        message = "The host rejected the user name or password."
        return HostError(HostErrorKind.CREDENTIALS_REFUSED, message)
    if code.startswith("55") and refusal_means_missing:
        return ObjectMissing()
    if code in ("550", "553"):
        message = "The user is not allowed to read a folder or document of this source."
        return HostError(HostErrorKind.NOT_ALLOWED, message)
    if code.startswith("4"):
        message = "The host closed the connection, or stopped the transfer before it was complete."
        return HostError(HostErrorKind.UNREACHABLE, message)
    return build_protocol_error()
