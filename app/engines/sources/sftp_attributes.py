"""Read the attributes of files from the responses of SFTP servers."""

import stat
from collections.abc import Mapping
from typing import NamedTuple

from paramiko import Message
from paramiko.sftp import SFTPError
from paramiko.sftp_attr import SFTPAttributes

from app.engines.sources.ssh_packets import MAX_PACKET_BYTES

_INT_BYTES = 4
_MAX_EXTENSIONS = MAX_PACKET_BYTES // (2 * _INT_BYTES)
"""The maximum number of extended attributes in a packet. Each has two strings with a length."""
_TYPES_BY_LETTER: Mapping[bytes, int] = {b"-": stat.S_IFREG, b"d": stat.S_IFDIR, b"l": stat.S_IFLNK}
"""The types of entries, by the first letter of the line of text that describes an entry."""


class FileAttributes(NamedTuple):
    """The attributes of a file, as the server reports them.

    `mode` may lack the file type. `size` is in bytes, and `modified` in seconds since 1970.
    """

    mode: int
    size: int | None
    modified: float | None


def read_attributes(message: Message) -> FileAttributes:
    """Read attributes from a response.

    paramiko would read as many extended attributes as the server claims, which may take hours. This
    function raises SFTPError if the server claims more than a response can contain.
    """
    flags = message.get_int()
    size = message.get_int64() if flags & SFTPAttributes.FLAG_SIZE else None
    if flags & SFTPAttributes.FLAG_UIDGID:
        message.get_bytes(2 * _INT_BYTES)
    mode = message.get_int() if flags & SFTPAttributes.FLAG_PERMISSIONS else 0
    modified = None
    if flags & SFTPAttributes.FLAG_AMTIME:
        message.get_int()  # the time of the last access
        modified = message.get_int()
    if flags & SFTPAttributes.FLAG_EXTENDED:
        _skip_extended_attributes(message)
    return FileAttributes(mode, size, modified)


def _skip_extended_attributes(message: Message) -> None:
    count = message.get_int()
    if count > _MAX_EXTENSIONS:
        raise SFTPError("more attributes than a response can contain")
    for _ in range(2 * count):
        message.get_string()


def read_entry(message: Message) -> tuple[bytes, FileAttributes]:
    """Read the name and the attributes of an entry of a folder from a response.

    Some servers send the type of an entry only in the line of text that describes it.
    """
    name, line = message.get_string(), message.get_string()
    attributes = read_attributes(message)
    if not stat.S_IFMT(attributes.mode):
        entry_type = _TYPES_BY_LETTER.get(line[:1], 0)
        attributes = attributes._replace(mode=attributes.mode | entry_type)
    return name, attributes
