"""Documents on an SFTP server."""

import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from app.engines.sources import limits
from app.engines.sources.deadlines import Budget
from app.engines.sources.failures import describe_missing_folder
from app.engines.sources.folders import Item, list_entries, list_objects
from app.engines.sources.model import Entry, Network, ObjectMissing, SourceError, SourceObject
from app.engines.sources.paths import encode_name, is_name, split_path
from app.engines.sources.sftp_connection import SftpConnector, translate_ssh_errors
from app.engines.sources.sftp_session import SftpReader


def open_source(
    settings: Mapping[str, Any], network: Network, local_root: Path | None
) -> "SftpSource":
    """Return the source for a folder on an SFTP server, after signing in."""
    del local_root
    connector = SftpConnector(settings, network)
    connector.connect()
    return SftpSource(connector)


class SftpSource:
    """A folder on an SFTP server. The next operation reopens a lost connection.

    Links are not followed: they are not listed and cannot be opened.
    """

    def __init__(self, connector: SftpConnector) -> None:
        self._connector = connector

    def list_objects(self, after: str | None = None) -> Iterator[SourceObject]:
        """Yield all documents, sorted by the names in their paths."""
        try:
            yield from list_objects(self._read_folder, after)
        except ObjectMissing:
            raise describe_missing_folder() from None

    def browse(self, path: str, limit: int) -> list[Entry]:
        """Return at most `limit` entries of a folder."""
        try:
            return list_entries(self._read_folder, path, limit)
        except ObjectMissing:
            raise describe_missing_folder() from None

    @contextmanager
    def open(self, path: str) -> Iterator[Iterator[bytes]]:
        """Read a document in chunks."""
        connection = self._connector.connect()
        target = _build_target(connection.root, path)
        budget = connection.build_budget(limits.READ_SECONDS)
        with translate_ssh_errors(), budget.spend():
            if not stat.S_ISREG(connection.session.get_attributes(target).mode):
                raise ObjectMissing
            reader = connection.session.open_file(target)
        try:
            yield self._read_document(reader, budget)
        finally:
            closing = connection.build_budget(limits.IDLE_SECONDS)
            with suppress(SourceError, ObjectMissing), translate_ssh_errors(), closing.spend():
                reader.close()

    def close(self) -> None:
        """Close the connection."""
        self._connector.close()

    def _read_document(self, reader: SftpReader, budget: Budget) -> Iterator[bytes]:
        try:
            yield from _read_file(reader, budget)
        except SourceError:
            # paramiko detects a lost connection only later.
            self.close()
            raise

    def _read_folder(self, path: str) -> Iterator[Item]:
        connection = self._connector.connect()
        budget = connection.build_budget(limits.OPERATION_SECONDS)
        with translate_ssh_errors(), budget.spend():
            for name, attributes in connection.session.read_folder(
                _build_target(connection.root, path)
            ):
                is_folder = stat.S_ISDIR(attributes.mode)
                if not is_name(name) or not (is_folder or stat.S_ISREG(attributes.mode)):
                    continue
                if is_folder:
                    yield Item(encode_name(name), is_folder=True)
                else:
                    size, modified = attributes.size, attributes.modified
                    yield Item(encode_name(name), False, f"{size}-{modified}", size, modified)  # noqa: FBT003


def _build_target(root: bytes, path: str) -> bytes:
    names = split_path(path)
    if names is None:
        raise ObjectMissing
    return b"/".join([root.rstrip(b"/"), *names]) or b"/"


def _read_file(reader: SftpReader, budget: Budget) -> Iterator[bytes]:
    received = 0
    with translate_ssh_errors(), budget.spend():
        attributes_before = reader.get_attributes()
    while True:
        with translate_ssh_errors(), budget.spend():
            chunk = reader.read(limits.CHUNK_BYTES)
            if not chunk:
                attributes_after = reader.get_attributes()
        if not chunk:
            break
        received += len(chunk)
        yield chunk
    # Times often have a resolution of one second, so possibly only the size shows a change.
    if attributes_after.size not in (None, received) or attributes_after != attributes_before:
        raise ObjectMissing
