"""Define the common interface of all destinations."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from app.engines.sources.model import HostType, Network


@dataclass(frozen=True, slots=True)
class OutgoingFile:
    """A finished file to deliver.

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
    """A destination that is ready for use. Only one thread may use it at a time."""

    def send(self, file: OutgoingFile, on_progress: Callable[[int], None]) -> str:
        """Deliver a file, and return its location for display.

        A file of the same name is replaced; on S3 and SFTP, the old file is kept until the new file
        is complete. The last bytes are sent only if the content has the expected size and digest.
        `on_progress` receives the number of bytes sent so far, about once a second and at the end.
        An exception from `on_progress` stops the delivery and is raised unchanged. Raises HostError
        if the file was not delivered.
        """

    def close(self) -> None:
        """Close all connections."""


DestinationOpener: TypeAlias = Callable[[Mapping[str, Any], Network], Destination]
"""Opens a destination. SFTP signs in immediately; other types connect when a file is sent."""
DestinationType: TypeAlias = HostType[DestinationOpener]
