"""Packets of hostile SSH servers: what they claim, and what they contain."""

import socket
import struct

import pytest
from paramiko import Message, SSHException
from paramiko.common import MSG_EXT_INFO, MSG_USERAUTH_INFO_REQUEST

from app.engines.sources.ssh_packets import MAX_PACKET_BYTES, LimitedPacketizer

_PROMPTS = b"\0\0\0\1t\0\0\0\1i\0\0\0\0"
"""The title, the instructions and the language of a message with prompts."""
_PROMPT = b"\0\0\0\7Secret:\0"
_EXTENSION = b"\0\0\0\4name\0\0\0\5value"


def _build_packet(message_type: int, content: bytes) -> bytes:
    payload = bytes([message_type]) + content
    padding = 16 - (5 + len(payload)) % 8
    return struct.pack(">IB", 1 + len(payload) + padding, padding) + payload + bytes(padding)


def _read(packet: bytes) -> tuple[int, Message]:
    client, server = socket.socketpair()
    with client, server:
        server.sendall(packet)
        server.shutdown(socket.SHUT_WR)
        return LimitedPacketizer(client).read_message()


@pytest.mark.parametrize(
    ("message_type", "head", "entry"),
    [
        (MSG_EXT_INFO, b"", _EXTENSION),
        (MSG_USERAUTH_INFO_REQUEST, _PROMPTS, _PROMPT),
    ],
)
def test_messages_claim_no_more_than_they_contain(
    message_type: int, head: bytes, entry: bytes
) -> None:
    content = head + struct.pack(">I", 2) + 2 * entry
    read_type, message = _read(_build_packet(message_type, content))
    assert (read_type, message.get_remainder()) == (message_type, content)
    claim = head + struct.pack(">I", 2**32 - 1) + 2 * entry
    with pytest.raises(SSHException, match="more entries"):
        _read(_build_packet(message_type, claim))


@pytest.mark.parametrize("excess", [0, 8])
def test_packets_are_limited(excess: int) -> None:
    head = struct.pack(">IB", MAX_PACKET_BYTES + 4 + excess, 4)
    # The rest of the packet never arrives.
    with pytest.raises(SSHException if excess else EOFError):
        _read(head + b"0123456789")
