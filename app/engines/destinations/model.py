"""The common interface of all destinations."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from app.engines.sources.model import FindProblem, Network


class DestinationErrorKind(StrEnum):
    """The reason why a destination cannot be used."""

    UNREACHABLE = "unreachable"
    CREDENTIALS_REFUSED = "credentials_refused"
    NOT_FOUND = "not_found"
    NOT_ALLOWED = "not_allowed"
    PROTOCOL = "protocol"


class DestinationError(Exception):
    """The file was not delivered.

    `message` is a complete sentence for the administrator. It contains no credential and no
    internal address.
    """

    def __init__(self, kind: DestinationErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


@dataclass(frozen=True, slots=True)
class OutgoingFile:
    """A finished file.

    Attributes:
        name: name of the file, without folders.
        media_type: media type of the content, such as `text/csv`.
        size: size of the content in bytes.
        sha256: SHA-256 digest of the content in hexadecimal digits.
        read: returns the content in chunks from its beginning; may be called more than once.
    """

    name: str
    media_type: str
    size: int
    sha256: str
    read: Callable[[], Iterator[bytes]]


class Destination(Protocol):
    """An open destination. Only one thread may use it at a time."""

    def send(self, file: OutgoingFile, on_progress: Callable[[int], None]) -> str:
        """Deliver a file, and return its location for display.

        The file gets its final name only when it is complete, and then replaces any file of that
        name. Its content is checked against its size and digest before the last bytes are sent.

        Args:
            file: the file.
            on_progress: receives the number of bytes sent so far, about once a second and at the
                end. An exception from this callback stops the delivery and is raised unchanged.

        Raises:
            DestinationError: the file was not delivered.
        """

    def close(self) -> None:
        """Close all connections."""


DestinationOpener: TypeAlias = Callable[[Mapping[str, Any], Network], Destination]


@dataclass(frozen=True, slots=True)
class DestinationType:
    """A type of destination that an administrator can configure.

    Attributes:
        name: name of the type, such as `s3`.
        title: display name.
        settings_schema: JSON Schema 2020-12 of the settings. Secrets have `"writeOnly": true`.
        secrets: names of the settings that must be stored encrypted and never shown.
        open: opens a destination. Takes settings that match the schema, and a network. SFTP signs
            in; the other types connect when a file is sent. Raises DestinationError if the
            destination cannot be opened.
        find_problem: finds a problem in the settings that the schema cannot describe, without
            connecting. Returns the name of the setting and a message, or None.
    """

    name: str
    title: str
    settings_schema: Mapping[str, Any]
    secrets: frozenset[str]
    open: DestinationOpener
    find_problem: FindProblem
