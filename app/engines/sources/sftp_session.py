"""The SFTP protocol on paramiko, with names in bytes and with pipelined reads and writes.

paramiko's own listing refuses names that are not UTF-8, its prefetching needs a thread and a
buffer as large as the file, and its errors omit the status that the server sent.
"""

import errno
from collections.abc import Iterator
from typing import NamedTuple

from paramiko import Channel, Message, SFTPClient
from paramiko.sftp import (
    CMD_CLOSE,
    CMD_DATA,
    CMD_FSTAT,
    CMD_HANDLE,
    CMD_LSTAT,
    CMD_NAME,
    CMD_OPEN,
    CMD_OPENDIR,
    CMD_READ,
    CMD_READDIR,
    CMD_REALPATH,
    CMD_STATUS,
    CMD_WRITE,
    SFTP_EOF,
    SFTP_FLAG_CREATE,
    SFTP_FLAG_READ,
    SFTP_FLAG_WRITE,
    SFTP_NO_SUCH_FILE,
    SFTP_OK,
    SFTP_PERMISSION_DENIED,
    SFTPError,
    int64,
)
from paramiko.sftp_attr import SFTPAttributes

_MAX_PACKET_BYTES = 1024 * 1024
_MAX_NAMES = _MAX_PACKET_BYTES // 12
"""The maximum number of names in a packet. Each name takes at least two lengths and flags."""
_BLOCK_BYTES = 32 * 1024
_MAX_PENDING = 32
"""The maximum number of requests that wait for answers. A higher limit takes more memory, and is
faster on connections with a high latency."""


class SftpStatusError(OSError):
    """The server refuses a request with a status that has no other exception."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


class Attributes(NamedTuple):
    """The attributes of a file, as the server reports them."""

    mode: int
    size: int | None
    modified: float | None


class SftpSession(SFTPClient):  # type: ignore[misc]
    """A session on a channel. Raises OSError, EOFError, SSHException or ValueError."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel)

    def resolve_path(self, path: bytes) -> bytes:
        """Return an absolute path."""
        message = self._request_message(CMD_NAME, CMD_REALPATH, path)
        message.get_int()
        return bytes(message.get_string())

    def get_attributes(self, path: bytes) -> Attributes:
        """Return the attributes of a file. Links are not followed."""
        _, message = self._request(CMD_LSTAT, path)
        return _read_attributes(message)

    def read_folder(self, path: bytes) -> Iterator[tuple[bytes, Attributes]]:
        """Yield the names in a folder with their attributes. Links are not followed."""
        handle = self._request_message(CMD_HANDLE, CMD_OPENDIR, path).get_string()
        try:
            while True:
                message = self._request_message(CMD_NAME, CMD_READDIR, handle)
                count = message.get_int()
                if count > _MAX_NAMES:
                    raise SFTPError("more names than an answer can contain")
                for _ in range(count):
                    name = message.get_string()
                    message.get_string()  # the entry as a line of text
                    yield name, _read_attributes(message)
        except EOFError:
            self._request(CMD_CLOSE, handle)

    def open_file(self, path: bytes) -> "SftpReader":
        """Open a file to read it from its beginning to its end."""
        message = self._request_message(
            CMD_HANDLE, CMD_OPEN, path, SFTP_FLAG_READ, SFTPAttributes()
        )
        return SftpReader(self, message.get_string())

    def open_to_write(self, path: bytes) -> "SftpWriter":
        """Open a file to write it from its beginning. Creates it, but does not truncate it."""
        flags = SFTP_FLAG_WRITE | SFTP_FLAG_CREATE
        message = self._request_message(CMD_HANDLE, CMD_OPEN, path, flags, SFTPAttributes())
        return SftpWriter(self, message.get_string())

    def get_open_attributes(self, handle: bytes) -> Attributes:
        """Return the attributes of an open file."""
        _, message = self._request(CMD_FSTAT, handle)
        return _read_attributes(message)

    def close_handle(self, handle: bytes) -> None:
        """Close an open file."""
        self._request(CMD_CLOSE, handle)

    def send_read(self, reader: "SftpReader", handle: bytes, offset: int) -> int:
        """Request a block for a reader. Return the number of the request."""
        number: int = self._async_request(reader, CMD_READ, handle, int64(offset), _BLOCK_BYTES)
        return number

    def send_write(self, writer: "SftpWriter", handle: bytes, offset: int, block: bytes) -> None:
        """Request to write a block."""
        self._async_request(writer, CMD_WRITE, handle, int64(offset), block)

    def receive(self) -> None:
        """Wait for one answer and pass it to its reader or writer."""
        self._read_response()

    def check_status(self, message: Message) -> None:
        """Raise OSError, or EOFError at the end of the file."""
        self._convert_status(message)

    def _convert_status(self, msg: Message) -> None:
        """Raise the exception for a status; paramiko also calls this method."""
        code = msg.get_int()
        text = bytes(msg.get_string()).decode("utf-8", "replace")
        if code == SFTP_OK:
            return
        if code == SFTP_EOF:
            raise EOFError(text)
        if code == SFTP_NO_SUCH_FILE:
            raise FileNotFoundError(errno.ENOENT, text)
        if code == SFTP_PERMISSION_DENIED:
            raise PermissionError(errno.EACCES, text)
        raise SftpStatusError(code, text)

    def _request_message(self, expected_type: int, *request: object) -> Message:
        message_type, message = self._request(*request)
        if message_type != expected_type:
            raise SFTPError("unexpected answer")
        return message

    def _read_all(self, n: int) -> bytes:
        if n > _MAX_PACKET_BYTES:
            raise SFTPError("the answer is too large")
        data: bytes = super()._read_all(n)
        return data


class SftpReader:
    """Reads an open file in order, with several requests at a time."""

    def __init__(self, session: SftpSession, handle: bytes) -> None:
        self._session = session
        self._handle = handle
        self._answers: dict[int, bytes] = {}
        self._pending: list[int] = []
        self._next_offset = 0
        self._is_at_end = False

    def get_attributes(self) -> Attributes:
        """Return the attributes of the file."""
        return self._session.get_open_attributes(self._handle)

    def read(self, size: int) -> bytes:
        """Return about `size` bytes, or no bytes at the end of the file."""
        data = bytearray()
        while len(data) < size and (block := self._read_block()):
            data += block
        return bytes(data)

    def close(self) -> None:
        """Close the file. Answers that arrive later are dropped."""
        self._session.close_handle(self._handle)

    def _read_block(self) -> bytes:
        while not self._is_at_end and len(self._pending) < _MAX_PENDING:
            self._send(self._next_offset)
        if not self._pending:
            return b""
        number = self._pending[0]
        while number not in self._answers:
            self._session.receive()
        self._pending.pop(0)
        block = self._answers.pop(number)
        if len(block) < _BLOCK_BYTES:
            self._restart(len(block))
        return block

    def _send(self, offset: int) -> None:
        self._pending.append(self._session.send_read(self, self._handle, offset))
        self._next_offset = offset + _BLOCK_BYTES

    def _restart(self, size: int) -> None:
        """Continue after a block of `size` bytes, which is short, but may not be the last one."""
        sent_blocks = len(self._pending)
        while self._pending:
            number = self._pending.pop(0)
            while number not in self._answers:
                self._session.receive()
            del self._answers[number]
        self._next_offset -= (sent_blocks + 1) * _BLOCK_BYTES - size
        self._is_at_end = size == 0

    def _async_response(self, kind: int, message: Message, number: int) -> None:
        """Store the answer to a request; paramiko calls this method."""
        if kind == CMD_STATUS:
            try:
                self._session.check_status(message)
            except EOFError:
                self._answers[number] = b""
                return
        if kind != CMD_DATA:
            raise SFTPError("unexpected answer")
        data = message.get_string()
        if len(data) > _BLOCK_BYTES:
            raise SFTPError("more data than requested")
        self._answers[number] = data


class SftpWriter:
    """Writes an open file in order, with several requests at a time."""

    def __init__(self, session: SftpSession, handle: bytes) -> None:
        self._session = session
        self._handle = handle
        self._offset = 0
        self._pending = 0
        self._failure: Exception | None = None

    def write(self, data: bytes) -> None:
        """Write data after the data that was written before."""
        for start in range(0, len(data), _BLOCK_BYTES):
            while self._pending >= _MAX_PENDING:
                self._session.receive()
            self._raise_failure()
            block = data[start : start + _BLOCK_BYTES]
            self._session.send_write(self, self._handle, self._offset, block)
            self._pending += 1
            self._offset += len(block)

    def close(self) -> None:
        """Wait until everything is written, and close the file."""
        while self._pending:
            self._session.receive()
        self._raise_failure()
        self._session.close_handle(self._handle)

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _async_response(self, kind: int, message: Message, _number: int) -> None:
        """Count an answer; paramiko calls this method, even after the writer has failed."""
        self._pending -= 1
        if kind != CMD_STATUS:
            self._failure = self._failure or SFTPError("unexpected answer")
            return
        try:
            self._session.check_status(message)
        except (OSError, EOFError) as error:
            self._failure = self._failure or error


def _read_attributes(message: Message) -> Attributes:
    attributes = SFTPAttributes._from_msg(message)  # noqa: SLF001 - there is no other way
    return Attributes(attributes.st_mode or 0, attributes.st_size, attributes.st_mtime)
