"""Extend paramiko's SFTP client with names in bytes, and with pipelined reads and writes.

paramiko's listing refuses names that are not UTF-8, its prefetching needs a thread and a
buffer as large as the file, and its errors omit the status that the server sent.
"""

import errno
from collections.abc import Iterator

from paramiko import Message, SFTPClient
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

from app.engines.sources.sftp_attributes import FileAttributes, read_attributes, read_entry
from app.engines.sources.ssh_packets import MAX_PACKET_BYTES

_MAX_NAMES = MAX_PACKET_BYTES // 12
"""The maximum number of names in a packet. Each name takes at least 12 bytes."""
_BLOCK_BYTES = 32 * 1024
_MAX_PENDING_REQUESTS = 32
"""The maximum number of requests that wait for responses. A higher limit takes more memory, but is
faster on connections with a high latency."""


class SftpStatusError(OSError):
    """The server refused a request with a status for which there is no specific exception.

    `code` is the status code, and `text` is the explanation from the server.
    """

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


class SftpSession(SFTPClient):  # type: ignore[misc]
    """An SFTP session on a channel.

    Methods raise OSError, EOFError, SFTPError, SSHException or ValueError.
    """

    def resolve_path(self, path: bytes) -> bytes:
        """Return the absolute form of a path on the server."""
        message = self._request_message(CMD_NAME, CMD_REALPATH, path)
        message.get_int()
        return bytes(message.get_string())

    def get_attributes(self, path: bytes) -> FileAttributes:
        """Return the attributes of a file. Links are not followed."""
        _, message = self._request(CMD_LSTAT, path)
        return read_attributes(message)

    def read_folder(self, path: bytes) -> Iterator[tuple[bytes, FileAttributes]]:
        """Yield the names in a folder with their attributes. Links are not followed."""
        handle = self._request_message(CMD_HANDLE, CMD_OPENDIR, path).get_string()
        try:
            while True:
                message = self._request_message(CMD_NAME, CMD_READDIR, handle)
                count = message.get_int()
                if count > _MAX_NAMES:
                    raise SFTPError("more names than a response can contain")
                for _ in range(count):
                    yield read_entry(message)
        except EOFError:
            self._request(CMD_CLOSE, handle)

    def open_file(self, path: bytes) -> "SftpReader":
        """Open a file to read it from its beginning to its end."""
        message = self._request_message(
            CMD_HANDLE, CMD_OPEN, path, SFTP_FLAG_READ, SFTPAttributes()
        )
        return SftpReader(self, message.get_string())

    def open_for_writing(self, path: bytes) -> "SftpWriter":
        """Open a file for writing from its beginning.

        Creates the file if it does not exist. Does not truncate an existing file.
        """
        flags = SFTP_FLAG_WRITE | SFTP_FLAG_CREATE
        message = self._request_message(CMD_HANDLE, CMD_OPEN, path, flags, SFTPAttributes())
        return SftpWriter(self, message.get_string())

    def get_handle_attributes(self, handle: bytes) -> FileAttributes:
        """Return the attributes of the open file with this handle."""
        _, message = self._request(CMD_FSTAT, handle)
        return read_attributes(message)

    def close_handle(self, handle: bytes) -> None:
        """Close the open file with this handle."""
        self._request(CMD_CLOSE, handle)

    def send_read(self, reader: "SftpReader", handle: bytes, offset: int) -> int:
        """Send a request to read a block, and return the request number."""
        number: int = self._async_request(reader, CMD_READ, handle, int64(offset), _BLOCK_BYTES)
        return number

    def send_write(self, writer: "SftpWriter", handle: bytes, offset: int, block: bytes) -> None:
        """Send a request to write a block."""
        self._async_request(writer, CMD_WRITE, handle, int64(offset), block)

    def receive(self) -> None:
        """Receive one response, and pass it to the reader or writer that sent the request."""
        self._read_response()

    def check_status(self, message: Message) -> None:
        """Raise EOFError if the status is the end of a file, or OSError if it is an error."""
        self._convert_status(message)

    def _convert_status(self, msg: Message) -> None:
        """Raise the exception for a status message. paramiko also calls this method."""
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
            raise SFTPError("unexpected response")
        return message

    def _read_all(self, n: int) -> bytes:
        if n > MAX_PACKET_BYTES:
            raise SFTPError("the response is too large")
        data: bytes = super()._read_all(n)
        return data


class SftpReader:
    """Reads an open file from beginning to end, with several pending requests at a time."""

    def __init__(self, session: SftpSession, handle: bytes) -> None:
        self._session = session
        self._handle = handle
        self._blocks_by_request: dict[int, bytes] = {}
        self._pending_numbers: list[int] = []
        self._next_offset = 0
        self._is_at_end = False

    def get_attributes(self) -> FileAttributes:
        """Return the attributes of the file."""
        return self._session.get_handle_attributes(self._handle)

    def read(self, size: int) -> bytes:
        """Return at least `size` bytes, or all remaining bytes if there are fewer."""
        data = bytearray()
        while len(data) < size and (block := self._read_block()):
            data += block
        return bytes(data)

    def close(self) -> None:
        """Close the file. Responses that arrive later are dropped."""
        self._session.close_handle(self._handle)

    def _read_block(self) -> bytes:
        while not self._is_at_end and len(self._pending_numbers) < _MAX_PENDING_REQUESTS:
            number = self._session.send_read(self, self._handle, self._next_offset)
            self._pending_numbers.append(number)
            self._next_offset += _BLOCK_BYTES
        if not self._pending_numbers:
            return b""
        block = self._receive_block()
        if len(block) < _BLOCK_BYTES:
            self._restart_after_short_block(len(block))
        return block

    def _receive_block(self) -> bytes:
        """Receive the block of the oldest pending request, and return it."""
        number = self._pending_numbers[0]
        while number not in self._blocks_by_request:
            self._session.receive()
        self._pending_numbers.pop(0)
        return self._blocks_by_request.pop(number)

    def _restart_after_short_block(self, size: int) -> None:
        """Drop the pending blocks, and continue after a block of only `size` bytes.

        A short block is not necessarily the last block.
        """
        dropped_count = len(self._pending_numbers)
        while self._pending_numbers:
            self._receive_block()
        self._next_offset -= (dropped_count + 1) * _BLOCK_BYTES - size
        self._is_at_end = size == 0

    def _async_response(self, message_type: int, message: Message, number: int) -> None:
        """Store the response to a request. paramiko calls this method."""
        if message_type == CMD_STATUS:
            try:
                self._session.check_status(message)
            except EOFError:
                self._blocks_by_request[number] = b""
                return
        if message_type != CMD_DATA:
            raise SFTPError("unexpected response")
        data = message.get_string()
        if len(data) > _BLOCK_BYTES:
            raise SFTPError("more data than requested")
        self._blocks_by_request[number] = data


class SftpWriter:
    """Writes an open file from beginning to end, with several pending requests at a time."""

    def __init__(self, session: SftpSession, handle: bytes) -> None:
        self._session = session
        self._handle = handle
        self._offset = 0
        self._pending_count = 0
        self._failure: Exception | None = None

    def write(self, data: bytes) -> None:
        """Append data to the file. Raises the first error if writing an earlier block failed."""
        for start in range(0, len(data), _BLOCK_BYTES):
            while self._pending_count >= _MAX_PENDING_REQUESTS:
                self._session.receive()
            self._raise_failure()
            block = data[start : start + _BLOCK_BYTES]
            self._session.send_write(self, self._handle, self._offset, block)
            self._pending_count += 1
            self._offset += len(block)

    def close(self) -> None:
        """Wait until all blocks are written, and close the file.

        Raises the error of the first block that failed.
        """
        while self._pending_count:
            self._session.receive()
        self._raise_failure()
        self._session.close_handle(self._handle)

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _async_response(self, message_type: int, message: Message, _number: int) -> None:
        """Count a response. paramiko calls this method, even after the writer has failed."""
        self._pending_count -= 1
        if message_type != CMD_STATUS:
            self._failure = self._failure or SFTPError("unexpected response")
            return
        try:
            self._session.check_status(message)
        except (OSError, EOFError) as error:
            self._failure = self._failure or error
