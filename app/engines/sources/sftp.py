"""Read documents from an SFTP server."""

import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from app.engines.sources import limits
from app.engines.sources.deadlines import TimeBudget
from app.engines.sources.folders import FolderItem, FolderSource, build_item
from app.engines.sources.model import HostError, Network, ObjectMissing
from app.engines.sources.paths import is_valid_name, split_path
from app.engines.sources.sftp_connection import SftpConnector, translate_ssh_errors
from app.engines.sources.sftp_session import SftpReader


def open_source(settings: Mapping[str, Any], network: Network) -> "SftpSource":
    """Sign in to an SFTP server, and open a folder on it as a source.

    Raises HostError if the private key is invalid, if connecting or signing in fails, or if the
    path of the folder cannot be resolved.
    """
    connector = SftpConnector(settings, network)
    connector.connect()
    return SftpSource(connector)


class SftpSource(FolderSource):
    """A folder on an SFTP server. The next operation reopens a lost connection.

    Links are not followed: they are not listed and cannot be opened.
    """

    def __init__(self, connector: SftpConnector) -> None:
        self._connector = connector

    @contextmanager
    def open(self, path: str) -> Iterator[Iterator[bytes]]:
        """Open a document to read it in chunks."""
        connection = self._connector.connect()
        target = _build_server_path(connection.root, path)
        budget = connection.build_budget(limits.READ_SECONDS)
        with translate_ssh_errors(), budget.spend():
            mode = connection.session.get_attributes(target).mode
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                raise ObjectMissing
            reader = connection.session.open_file(target)
        try:
            yield self._read_document(reader, budget)
        finally:
            closing_budget = connection.build_budget(limits.IDLE_SECONDS)
            with suppress(HostError, ObjectMissing), translate_ssh_errors(), closing_budget.spend():
                reader.close()

    def close(self) -> None:
        """Close the connection."""
        self._connector.close()

    def _read_document(self, reader: SftpReader, budget: TimeBudget) -> Iterator[bytes]:
        try:
            yield from _read_file(reader, budget)
        except HostError:
            # paramiko may still report a lost connection as active.
            self.close()
            raise

    def _read_folder(self, path: str) -> Iterator[FolderItem]:
        connection = self._connector.connect()
        budget = connection.build_budget(limits.OPERATION_SECONDS)
        with translate_ssh_errors(), budget.spend():
            for name, attributes in connection.session.read_folder(
                _build_server_path(connection.root, path)
            ):
                is_folder = stat.S_ISDIR(attributes.mode)
                if not is_valid_name(name) or not (is_folder or stat.S_ISREG(attributes.mode)):
                    continue
                size, modified = attributes.size, attributes.modified
                yield build_item(name, is_folder=is_folder, size=size, modified=modified)


def _build_server_path(root: bytes, path: str) -> bytes:
    names = split_path(path)
    if names is None:
        raise ObjectMissing
    return b"/".join([root.rstrip(b"/"), *names]) or b"/"


def _read_file(reader: SftpReader, budget: TimeBudget) -> Iterator[bytes]:
    received_bytes = 0
    with translate_ssh_errors(), budget.spend():
        attributes_before = reader.get_attributes()
    while True:
        with translate_ssh_errors(), budget.spend():
            chunk = reader.read(limits.CHUNK_BYTES)
            if not chunk:
                attributes_after = reader.get_attributes()
        if not chunk:
            break
        received_bytes += len(chunk)
        yield chunk
    # Times often have a resolution of one second, so sometimes only the size shows a change.
    if attributes_after.size not in (None, received_bytes) or attributes_after != attributes_before:
        raise ObjectMissing
