"""Deliver files to a folder on an SFTP server.

A file is written as a part file, which is renamed when it is complete. The name of the part file is
the same for every attempt to deliver the same content, so a new attempt overwrites the part file
from an earlier attempt. The part file is not truncated, so two attempts that run at the same time
write the same bytes at the same offsets. The first attempt that has written all bytes renames the
file.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from app.engines.destinations import limits
from app.engines.destinations.content import ProgressReporter, read_blocks, validate_name
from app.engines.destinations.failures import build_full_disk_error
from app.engines.destinations.model import OutgoingFile
from app.engines.sources.deadlines import TimeBudget
from app.engines.sources.failures import build_missing_folder_error
from app.engines.sources.limits import CHUNK_BYTES
from app.engines.sources.model import HostError, HostErrorKind, Network
from app.engines.sources.sftp_connection import SftpConnection, SftpConnector, translate_ssh_errors
from app.engines.sources.sftp_session import SftpStatusError

_SUFFIX_DIGITS = 16
_UNSUPPORTED_CODE = 8
"""The status code for operations that the server does not support (SSH_FX_OP_UNSUPPORTED)."""
# Status codes of later protocol versions, which some servers also send in version 3.
_FULL_DISK_CODES = (14, 15)
_FULL_DISK_PHRASES = ("no space", "disk full", "quota")


def open_destination(settings: Mapping[str, Any], network: Network) -> "SftpDestination":
    """Sign in to an SFTP server, and open a folder on it as a destination.

    Raises HostError if the private key is invalid, if connecting or signing in fails, or if the
    path of the folder cannot be resolved.
    """
    connector = SftpConnector(settings, network)
    connector.connect()
    return SftpDestination(connector, _build_display_host(settings))


def _build_display_host(settings: Mapping[str, Any]) -> str:
    host = str(settings["host"])
    port = settings.get("port", 22)
    url_host = f"[{host}]" if ":" in host else host
    return url_host if port == 22 else f"{url_host}:{port}"  # noqa: PLR2004 - the port of SSH


@dataclass(frozen=True, slots=True)
class SftpDestination:
    """A folder on an SFTP server. A lost connection is reopened for the next file.

    `host` is the host to display, with its port unless it is the default port.
    """

    connector: SftpConnector
    host: str

    def send(self, file: OutgoingFile, on_progress: Callable[[int], None]) -> str:
        """Deliver a file, and return its SFTP URL.

        Raises HostError if the file was not delivered.
        """
        name = validate_name(file.name)
        connection = self.connector.connect()
        folder = connection.root.rstrip(b"/")
        suffix = file.sha256[:_SUFFIX_DIGITS].lower().encode()
        upload = _SftpUpload(
            connection=connection,
            budget=connection.build_budget(limits.compute_timeout_seconds(file.size)),
            target_path=folder + b"/" + name,
            part_path=b"%b/.%b.%b.part" % (folder, name, suffix),
        )
        progress = ProgressReporter(on_progress)
        try:
            upload.write(file, progress)
            upload.rename(file.size)
        except BaseException:
            upload.remove_part()
            # paramiko may still report a lost connection as active.
            self.connector.close()
            raise
        progress.finish()
        return f"sftp://{self.host}{upload.target_path.decode('utf-8', 'replace')}"

    def close(self) -> None:
        """Close the connection."""
        self.connector.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class _SftpUpload:
    """The delivery of one file.

    `budget` limits the time for writing and renaming, without the time for reading the content.
    """

    connection: SftpConnection
    budget: TimeBudget
    target_path: bytes
    part_path: bytes

    def write(self, file: OutgoingFile, progress: ProgressReporter) -> None:
        """Write the content of a file to the part file at `part_path`."""
        with self._run_operation(build_missing_folder_error):
            writer = self.connection.session.open_for_writing(self.part_path)
        for block in read_blocks(file, CHUNK_BYTES):
            with self._run_operation(_build_missing_part_error):
                writer.write(block)
            progress.add(len(block))
        with self._run_operation(_build_missing_part_error):
            writer.close()

    def rename(self, size: int) -> None:
        """Rename the part file. Raises HostError if the server reports a size other than `size`."""
        with self._run_operation(_build_missing_part_error):
            stored_size = self.connection.session.get_attributes(self.part_path).size
        if stored_size not in (None, size):
            message = "The server stored a different number of bytes than were sent."
            raise HostError(HostErrorKind.PROTOCOL, message)
        with self._run_operation(_build_missing_part_error):
            self._replace_target()

    def remove_part(self) -> None:
        """Remove the part file if the connection still works."""
        if not self.connection.transport.is_active():
            return
        budget = self.connection.build_budget(limits.CLEANUP_SECONDS)
        with suppress(HostError), _translate_errors(_build_missing_part_error), budget.spend():
            self.connection.session.remove(self.part_path)

    def _replace_target(self) -> None:
        try:
            self.connection.session.posix_rename(self.part_path, self.target_path)
        except SftpStatusError as error:
            if error.code != _UNSUPPORTED_CODE:
                raise
            # The protocol itself has no rename that replaces a file.
            with suppress(FileNotFoundError):
                self.connection.session.remove(self.target_path)
            self.connection.session.rename(self.part_path, self.target_path)

    @contextmanager
    def _run_operation(self, build_missing_error: Callable[[], HostError]) -> Iterator[None]:
        with _translate_errors(build_missing_error), self.budget.spend():
            yield


@contextmanager
def _translate_errors(build_missing_error: Callable[[], HostError]) -> Iterator[None]:
    """Translate errors of SSH and SFTP to HostError.

    `build_missing_error` builds the error for a path that does not exist.
    """
    with translate_ssh_errors():
        try:
            yield
        except FileNotFoundError:
            raise build_missing_error() from None
        except PermissionError:
            message = "The user is not allowed to write to the folder, or to replace the file."
            raise HostError(HostErrorKind.NOT_ALLOWED, message) from None
        except SftpStatusError as error:
            raise _build_refusal_error(error) from None


def _build_missing_part_error() -> HostError:
    message = "The file was removed from the server while it was being sent."
    return HostError(HostErrorKind.UNREACHABLE, message)


def _build_refusal_error(error: SftpStatusError) -> HostError:
    if error.code in _FULL_DISK_CODES or any(
        text in error.text.lower() for text in _FULL_DISK_PHRASES
    ):
        return build_full_disk_error()
    # For a full disk, many servers send only a general failure without an explanation.
    message = (
        "The server refuses to store the file. Its disk may be full, or a folder with the same"
        " name may exist."
    )
    return HostError(HostErrorKind.NOT_ALLOWED, message)
