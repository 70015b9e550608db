"""Read the packets of SSH servers in limited time and memory.

paramiko reads packets of up to 4 GB. It also reads as many entries of a message as a server claims,
up to four billion, which takes hours and, for prompts, all memory. Its thread continues even after
the connection was closed. It also stores all received data, even if no caller reads the data.
"""

from paramiko import Channel, Message, SSHException
from paramiko.buffered_pipe import BufferedPipe
from paramiko.common import MSG_EXT_INFO, MSG_USERAUTH_INFO_REQUEST
from paramiko.packet import Packetizer

MAX_PACKET_BYTES = 1024 * 1024
_MAX_UNREAD_BYTES = 4 * 1024 * 1024
"""The maximum size of unread data. This is more than the SSH flow-control window permits."""


class LimitedPacketizer(Packetizer):  # type: ignore[misc]
    """Reads packets; rejects large packets, and messages that claim too many entries."""

    def read_all(self, n: int, check_rekey: bool = False) -> bytes:  # noqa: FBT001, FBT002 - the signature of paramiko
        """Read `n` bytes. Raises SSHException if `n` is more than `MAX_PACKET_BYTES`."""
        if n > MAX_PACKET_BYTES:
            raise SSHException("the packet is too large")
        data: bytes = super().read_all(n, check_rekey)
        return data

    def read_message(self) -> tuple[int, Message]:
        """Read a message, and return its type and content.

        Raises SSHException if the message is invalid, or claims more entries than it can contain.
        """
        message_type, message = super().read_message()
        if message_type in (MSG_EXT_INFO, MSG_USERAUTH_INFO_REQUEST):
            _check_entry_count(message_type, message)
        return message_type, message


class _LimitedPipe(BufferedPipe):  # type: ignore[misc]
    """A buffer of limited size for unread data."""

    def feed(self, data: bytes) -> None:
        """Store received data. If the pipe is full, raises SSHException to end the connection."""
        if len(self) + len(data) > _MAX_UNREAD_BYTES:
            raise SSHException("the server ignores the SSH flow-control window")
        super().feed(data)


def limit_unread_data(channel: Channel) -> None:
    """Limit the unread data that a new channel stores, including error output."""
    channel.in_buffer, channel.in_stderr_buffer = _LimitedPipe(), _LimitedPipe()


def _check_entry_count(message_type: int, message: Message) -> None:
    """Check the claimed number of extensions or prompts, and rewind the message.

    Raises SSHException if the message is too short for this number.
    """
    if message_type == MSG_USERAUTH_INFO_REQUEST:
        for _ in range(3):  # title, instructions and language
            message.get_string()
    count, size = message.get_int(), len(message.get_remainder())
    message.rewind()
    if count > size:  # An entry takes several bytes.
        raise SSHException("more entries than the message can contain")
