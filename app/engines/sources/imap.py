"""Read emails from a mailbox folder as files in RFC 5322 format.

The folder is opened for reading only, and messages are read without marking them as seen.
"""

import imaplib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from time import monotonic
from typing import Any, NamedTuple

from app.engines.sources import limits
from app.engines.sources.deadlines import TimeBudget
from app.engines.sources.failures import (
    build_missing_folder_error,
    build_protocol_error,
    translate_errors,
)
from app.engines.sources.imap_client import ImapClient, encode_folder
from app.engines.sources.model import (
    HostError,
    HostErrorKind,
    Network,
    ObjectMissing,
    PathFilter,
    SourceEntry,
    SourceObject,
)
from app.engines.sources.tls import build_context

_PATH = re.compile(r"([1-9][0-9]{0,9})\.eml")
_UID = re.compile(rb"\bUID (\d{1,10})\b")
_SIZE = re.compile(rb"\bRFC822\.SIZE (\d{1,15})\b")
_INTERNAL_DATE = re.compile(rb'\bINTERNALDATE "([^"]{10,40})"')
_NUMBER = re.compile(rb"(\d{1,10}) \(")
_PAGE_MESSAGES = 500
_MAX_REPEATED_PAGES = 100
"""The maximum number of consecutive pages that list no new message. Such pages are normal while
other clients delete messages."""
_PROBE_SECONDS = 60.0
"""The idle time after which a connection is tested before use; the server may have closed it."""
_DIGEST_DIGITS = 8


class _ListedMessage(NamedTuple):
    """A message in a listing. `number` is its sequence number, and `size` is in bytes."""

    number: int
    uid: int
    size: int | None
    received_at: datetime | None


def open_source(settings: Mapping[str, Any], network: Network) -> "ImapSource":
    """Sign in to a mail server, and open a mailbox folder as a source.

    Raises HostError if the CA certificate is invalid, if connecting or signing in fails, or if the
    folder does not exist.
    """
    source = ImapSource(settings, network)
    source.connect()
    return source


class ImapSource:
    """A folder of a mailbox. The next operation reopens a lost connection."""

    def __init__(self, settings: Mapping[str, Any], network: Network) -> None:
        self._settings = settings
        self._network = network
        self._context = build_context(settings)
        self._client: ImapClient | None = None
        self._folder = str(settings.get("folder") or "INBOX")
        # Folders may have the same UIDVALIDITY, for example if they were created together.
        location = "\n".join((settings["host"], settings["username"], self._folder))
        self._location_digest = sha256(location.encode()).hexdigest()[:_DIGEST_DIGITS]
        self._uid_validity = ""
        self._used_at = 0.0

    def connect(self) -> ImapClient:
        """Connect and open the folder, unless the connection is open, and return the client."""
        if self._client is not None and not self._is_connected(self._client):
            self.close()
        if self._client is None:
            host, port = self._settings["host"], self._settings.get("port", 993)
            with _translate_imap_errors():
                client = ImapClient(self._network, host, port, self._context)
            try:
                with _translate_imap_errors(), _build_budget(client).spend():
                    self._sign_in(client)
            except BaseException:
                _close_client(client)
                raise
            self._client = client
        self._used_at = monotonic()
        return self._client

    def list_objects(
        self, after: str | None = None, path_filter: PathFilter | None = None
    ) -> Iterator[SourceObject]:
        """Yield the messages after the path `after`, or all messages, in order of arrival."""
        del path_filter  # a filter would not save requests
        match = _PATH.fullmatch(after) if after else None
        for message in self._list_messages(int(match[1]) if match else 0):
            version = f"{self._location_digest}-{self._uid_validity}-{message.uid}"
            path = f"{message.uid}.eml"
            yield SourceObject(path, version, message.size, message.received_at)

    def browse(self, path: str, limit: int) -> list[SourceEntry]:
        """Browse the folder: return its first `limit` messages. There are no subfolders."""
        if path:
            raise build_missing_folder_error()
        return [
            SourceEntry(f"{message.uid}.eml", False, message.size, message.received_at)  # noqa: FBT003
            for message in islice(self._list_messages(0), limit)
        ]

    @contextmanager
    def open(self, path: str) -> Iterator[Iterator[bytes]]:
        """Open a message to read it in chunks."""
        match = _PATH.fullmatch(path)
        if match is None:
            raise ObjectMissing
        uid = int(match[1])
        client = self.connect()
        budget = _build_budget(client, limits.READ_SECONDS)
        with self._run_commands(budget):
            first_part = client.fetch_part(uid, 0)
        yield self._read_message(client, uid, first_part, budget)

    def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            _close_client(self._client)
            self._client = None

    def _is_connected(self, client: ImapClient) -> bool:
        if monotonic() - self._used_at < _PROBE_SECONDS:
            return True
        with suppress(HostError), _translate_imap_errors(), _build_budget(client).spend():
            client.noop()
            return True
        return False

    def _sign_in(self, client: ImapClient) -> None:
        client.upgrade_to_tls()
        if client.state == "NONAUTH":
            try:
                client.sign_in(self._settings["username"], self._settings["password"])
            except (imaplib.IMAP4.abort, OSError, EOFError):
                raise
            except (imaplib.IMAP4.error, UnicodeError):
                message = "The host rejected the user name or password."
                raise HostError(HostErrorKind.CREDENTIALS_REFUSED, message) from None
        folder = encode_folder(self._folder)
        status, _ = client.select(folder, readonly=True)
        if status != "OK":
            raise build_missing_folder_error()
        validity = client.response("UIDVALIDITY")[1][0]
        if validity is None or not validity.isdigit():
            raise build_protocol_error()
        self._uid_validity = validity.decode()

    def _list_messages(self, after_uid: int) -> Iterator[_ListedMessage]:
        """Yield the messages whose UID is higher than `after_uid`, and fetch them in pages."""
        last_uid, position, client = after_uid, 0, None
        repeated_pages = 0
        while repeated_pages <= _MAX_REPEATED_PAGES:
            repeated_pages += 1
            current_client = self.connect()
            with self._run_commands(_build_budget(current_client)):
                # Sequence numbers change when other clients delete messages.
                if current_client is not client or current_client.has_new_numbers:
                    client = current_client
                    position = _find_position(client, last_uid)
                page = _fetch_page(client, position + 1)
            if not page:
                return
            for message in page:
                position = max(position, message.number)
                if message.uid > last_uid:
                    last_uid, repeated_pages = message.uid, 0
                    yield message
        raise build_protocol_error()

    def _read_message(
        self, client: ImapClient, uid: int, first_part: bytes, budget: TimeBudget
    ) -> Iterator[bytes]:
        part, offset = first_part, 0
        while part:
            yield part
            offset += len(part)
            if len(part) < limits.CHUNK_BYTES:
                return
            with self._run_commands(budget):
                part = client.fetch_part(uid, offset)

    @contextmanager
    def _run_commands(self, budget: TimeBudget) -> Iterator[None]:
        """Limit the time of the commands in the context, and translate their errors.

        A HostError closes the connection, because its state is then unknown.
        """
        try:
            with _translate_imap_errors(), budget.spend():
                yield
        except HostError:
            self.close()
            raise
        self._used_at = monotonic()


def _build_budget(client: ImapClient, seconds: float | None = None) -> TimeBudget:
    return TimeBudget(seconds or limits.OPERATION_SECONDS, client.shut_down)


def _close_client(client: ImapClient) -> None:
    with suppress(OSError):
        client.shutdown()


def _find_position(client: ImapClient, uid: int) -> int:
    """Find the sequence number of the last message with a UID of at most `uid`.

    Returns 0 if there is no such message. Updates the number of messages first, and searches by
    bisection.
    """
    client.noop()  # In response, the server reports new and deleted messages.
    client.has_new_numbers = False
    low, high = 0, client.message_count
    while low < high:
        middle = (low + high + 1) // 2
        messages = _fetch_messages(client, str(middle), "(UID)")
        if messages and messages[0].uid <= uid:
            low = middle
        else:
            high = middle - 1
    return low


def _fetch_page(client: ImapClient, start: int) -> list[_ListedMessage]:
    end = min(start + _PAGE_MESSAGES - 1, client.message_count)
    if start > end:
        return []
    return _fetch_messages(client, f"{start}:{end}", "(UID RFC822.SIZE INTERNALDATE)")


def _fetch_messages(client: ImapClient, sequence_set: str, items: str) -> list[_ListedMessage]:
    _, data = client.fetch(sequence_set, items)
    messages = (_parse_message(line) for line in data if isinstance(line, bytes))
    return sorted((message for message in messages if message), key=lambda message: message.number)


def _parse_message(line: bytes) -> _ListedMessage | None:
    number_match, uid_match = _NUMBER.match(line), _UID.search(line)
    if number_match is None or uid_match is None:
        return None
    size_match, date_match = _SIZE.search(line), _INTERNAL_DATE.search(line)
    return _ListedMessage(
        int(number_match[1]),
        int(uid_match[1]),
        int(size_match[1]) if size_match else None,
        _parse_time(date_match[1]) if date_match else None,
    )


def _parse_time(text: bytes) -> datetime | None:
    try:
        time = datetime.strptime(text.decode("ascii").strip(), "%d-%b-%Y %H:%M:%S %z")
        return time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


@contextmanager
def _translate_imap_errors() -> Iterator[None]:
    """Translate errors from imaplib to HostError."""
    try:
        with translate_errors():
            yield
    except imaplib.IMAP4.abort:
        message = "The host closed the connection, or it is not a mail server."
        raise HostError(HostErrorKind.UNREACHABLE, message) from None
    except (imaplib.IMAP4.error, ValueError, LookupError):
        raise build_protocol_error() from None
