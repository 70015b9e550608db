"""Define the common interface of all sources."""

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import requests


class HostErrorKind(StrEnum):
    """The reason why a source or destination, or one of its documents, cannot be used."""

    UNREACHABLE = "unreachable"
    CREDENTIALS_REFUSED = "credentials_refused"
    NOT_FOUND = "not_found"
    NOT_ALLOWED = "not_allowed"
    PROTOCOL = "protocol"


class HostError(Exception):
    """A source or destination, or one of its documents, cannot be used.

    `message` is a complete sentence for the administrator. It contains no credentials and no
    internal addresses.
    """

    def __init__(self, kind: HostErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class ObjectMissing(Exception):  # noqa: N818 - names what happened
    """A document or folder does not exist, or a document changed while it was being read."""


@dataclass(frozen=True, slots=True)
class SourceObject:
    """A document of a source.

    Attributes:
        path: the unique path below the root of the source, with `/` between folders.
        version: a string that changes with the content, such as an ETag, a UID, or the size and the
            modification time.
        size: size in bytes, if the source lists it.
        modified_at: modification time in UTC, if the source lists it.
    """

    path: str
    version: str
    size: int | None = None
    modified_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ListingPosition:
    """A position in a listing, which a source yields if it read a part without documents.

    Attributes:
        path: the path after which a later listing can continue. None if no listing can continue
            here, for example while the source skips documents that an earlier listing yielded.
    """

    path: str | None


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A folder or document in the listing of a folder, shown to users who browse the source."""

    path: str
    is_folder: bool
    size: int | None = None
    modified_at: datetime | None = None


class Network(Protocol):
    """Opens connections to other hosts, and refuses addresses that are not allowed."""

    def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        """Connect to a host, and return the socket. `timeout` is in seconds.

        Raises OSError if the connection fails, and HostError (`not_allowed`) if the address is
        not allowed.
        """

    def session(self, *, total_timeout: float, max_response_bytes: int) -> requests.Session:
        """Return an HTTP session that does not follow redirects.

        `total_timeout` is in seconds, for a request and its response together. Requests raise the
        exceptions of `requests`; any other exception means that the address is not allowed.
        """


class PathFilter(Protocol):
    """Decides which documents are listed, depending on their paths."""

    def is_included(self, path: str) -> bool:
        """Return whether the document at this path is selected."""

    def may_contain(self, folder: str) -> bool:
        """Return False if no document in this folder or below it is selected.

        True does not mean that there is such a document.
        """


class Source(Protocol):
    """A source of documents that is ready for use. Its methods can raise HostError.

    Only one thread may use a source at a time.
    """

    def list_objects(
        self, after: str | None = None, path_filter: PathFilter | None = None
    ) -> Iterator[SourceObject | ListingPosition]:
        """Yield all documents, and positions from which a later listing can continue.

        The order does not change between two listings. A listing is read in parts, so memory use
        does not grow with the number of documents. A source yields a document or a position at
        least once after each request, so that the caller can stop there.

        Args:
            after: the path of the document or position at which an earlier listing stopped. A
                source may continue after this path, or list everything.
            path_filter: selects documents. A source may leave out documents that are not selected,
                to save requests, or list them.
        """

    def browse(self, path: str, limit: int) -> list[SourceEntry]:
        """Browse a folder: return at most `limit` of its entries. The root has an empty path."""

    def open(self, path: str) -> AbstractContextManager[Iterator[bytes]]:
        """Open a document to read it in chunks of at most 1 MiB.

        Raises ObjectMissing if the document does not exist. Reading the chunks may also raise
        ObjectMissing, if the document changes in the meantime.
        """

    def close(self) -> None:
        """Close all connections."""


FindProblem: TypeAlias = Callable[[Mapping[str, Any]], tuple[str, str] | None]
SourceOpener: TypeAlias = Callable[[Mapping[str, Any], Network, Path | None], Source]
"""Opens a source from its settings and a network.

The third argument is the operator's folder that contains all local sources, or None.
"""


OpenerT = TypeVar("OpenerT", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class HostType(Generic[OpenerT]):
    """A type of source or destination that an administrator can configure.

    Attributes:
        name: name of the type, such as `s3`.
        title: display name.
        settings_schema: JSON Schema 2020-12 of the settings. Secrets have `"writeOnly": true`.
        secret_names: names of the settings that must be stored encrypted and never shown.
        open: opens a source or destination. Takes settings that match the schema, and a network.
            Raises HostError if it cannot be opened.
        find_problem: finds a problem with the settings that the schema cannot describe, without
            connecting. Returns the name of the setting and a message, or None.
    """

    name: str
    title: str
    settings_schema: Mapping[str, Any]
    secret_names: frozenset[str]
    open: OpenerT
    find_problem: FindProblem


SourceType: TypeAlias = HostType[SourceOpener]
