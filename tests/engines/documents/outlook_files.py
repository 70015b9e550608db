"""Create Outlook emails ([MS-OXMSG]) in compound files ([MS-CFB])."""

import struct
from typing import Any, NamedTuple

from compressed_rtf import compress  # type: ignore[import-untyped]

_SECTOR, _MINI_SECTOR, _MINI_LIMIT = 512, 64, 4096
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_STORAGE, _STREAM, _ROOT = 1, 2, 5
_HEADER_BYTES, _INNER_HEADER_BYTES, _ATTACHMENT_HEADER_BYTES = 32, 24, 8
_PROPERTIES = "__properties_version1.0"
_INTEGER, _STORAGE_TYPE, _UNICODE, _BINARY = 0x0003, 0x000D, 0x001F, 0x0102
_SUBJECT, _BODY, _RICH_TEXT, _SENDER, _DISPLAY_TO = 0x0037, 0x1000, 0x1009, 0x0042, 0x0E04
_HTML, _CODE_PAGE = 0x1013, 0x3FDE
_NAME, _METHOD, _DATA = 0x3707, 0x3705, 0x3701
_BY_VALUE, _EMBEDDED = 1, 5

Storage = dict[str, Any]
"""A storage of a compound file: maps names to streams (bytes) and inner storages."""


def outlook_mail(
    subject: str,
    body: str | None = None,
    *,
    html: bytes | None = None,
    code_page: int = 65001,
    **contents: Any,
) -> bytes:
    """Return an email. `contents` are other arguments of `inner_mail`.

    `code_page` is the declared encoding of `html`.
    """
    storage = inner_mail(subject, body, header_bytes=_HEADER_BYTES, **contents)
    if html is not None:
        more = _properties({_HTML: html, _CODE_PAGE: code_page}, 0)
        storage |= more | {_PROPERTIES: storage[_PROPERTIES] + more[_PROPERTIES]}
    return build_compound_file(storage)


def inner_mail(
    subject: str,
    body: str | None = None,
    *,
    rich_text: bytes | None = None,
    files: dict[str, bytes] | None = None,
    mails: tuple[Storage, ...] = (),
    header_bytes: int = _INNER_HEADER_BYTES,
) -> Storage:
    """Return an email to attach to another email. `files` and `mails` are attached to it."""
    texts = {_SUBJECT: subject, _BODY: body, _SENDER: "Zoë", _DISPLAY_TO: "team@example.org"}
    values: dict[int, Any] = {pid: text for pid, text in texts.items() if text is not None}
    if rich_text is not None:
        values[_RICH_TEXT] = compress(rich_text)
    attached = [
        {_NAME: name, _METHOD: _BY_VALUE, _DATA: data} for name, data in (files or {}).items()
    ]
    attached += [{_METHOD: _EMBEDDED, _DATA: mail} for mail in mails]
    storage = _properties(values, header_bytes)
    for number, properties in enumerate(attached):
        name = f"__attach_version1.0_#{number:08X}"
        storage[name] = _properties(properties, _ATTACHMENT_HEADER_BYTES)
    return storage


def _properties(values: dict[int, Any], header_bytes: int) -> Storage:
    rows, storage = [bytes(header_bytes)], {}
    for pid, value in values.items():
        if isinstance(value, int):
            rows.append(struct.pack("<HHIQ", _INTEGER, pid, 6, value))
            continue
        types: dict[type, int] = {str: _UNICODE, bytes: _BINARY, dict: _STORAGE_TYPE}
        kind = types[type(value)]
        content = value.encode("utf-16-le") if isinstance(value, str) else value
        rows.append(struct.pack("<HHIQ", kind, pid, 6, len(content)))
        storage[f"__substg1.0_{pid:04X}{kind:04X}"] = content
    return {_PROPERTIES: b"".join(rows), **storage}


class _Entry(NamedTuple):
    """An entry of the directory. `child` and `sibling` are the indexes of related entries."""

    name: str
    kind: int
    content: bytes
    child: int
    sibling: int


def build_compound_file(root: Storage) -> bytes:
    """Return a compound file with these streams and storages."""
    entries: list[_Entry] = []
    _add_entry(entries, "Root Entry", root, _ROOT, _FREE)
    body, fat, mini, mini_fat = bytearray(), [], bytearray(), []
    starts = []
    for entry in entries:
        if entry.kind != _STREAM or not entry.content:
            starts.append(_END)
        elif len(entry.content) < _MINI_LIMIT:
            starts.append(_append(mini, mini_fat, entry.content, _MINI_SECTOR))
        else:
            starts.append(_append(body, fat, entry.content, _SECTOR))
    starts[0] = _append(body, fat, bytes(mini), _SECTOR) if mini else _END
    directory = b"".join(
        _encode_entry(entry, start, len(mini) if entry.kind == _ROOT else len(entry.content))
        for entry, start in zip(entries, starts, strict=True)
    )
    first_entry = _append(body, fat, directory, _SECTOR)
    table = _encode_table(mini_fat)
    first_mini = _append(body, fat, table, _SECTOR) if table else _END
    return _finish(body, fat, first_entry, first_mini, len(table) // _SECTOR)


def _add_entry(entries: list[_Entry], name: str, content: Any, kind: int, sibling: int) -> int:
    """Add an entry with everything that it contains, and return its index."""
    place = len(entries)
    entries.append(_Entry(name, kind, content if kind == _STREAM else b"", _FREE, sibling))
    child = _FREE
    if kind != _STREAM:
        for inner_name, inner in content.items():
            inner_kind = _STORAGE if isinstance(inner, dict) else _STREAM
            child = _add_entry(entries, inner_name, inner, inner_kind, child)
    entries[place] = entries[place]._replace(child=child)
    return place


def _append(target: bytearray, table: list[int], content: bytes, sector: int) -> int:
    """Append content in new sectors, and return the number of the first sector."""
    first, count = len(table), -(-len(content) // sector)
    target += content.ljust(count * sector, b"\0")
    table += [*range(first + 1, first + count), _END]
    return first


def _encode_table(table: list[int]) -> bytes:
    data = struct.pack(f"<{len(table)}I", *table)
    return data.ljust(-(-len(data) // _SECTOR) * _SECTOR, b"\xff")


def _encode_entry(entry: _Entry, start: int, size: int) -> bytes:
    name = entry.name.encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII36xIQ", name, len(name) + 2, entry.kind, 1,
        _FREE, entry.sibling, entry.child, start, size,
    )  # fmt: skip


def _finish(
    body: bytearray, fat: list[int], first_entry: int, first_mini: int, mini_count: int
) -> bytes:
    """Add the sector allocation table and the header."""
    count = 1
    while len(fat) + count > count * _SECTOR // 4:
        count += 1
    first = len(fat)
    table = _encode_table([*fat, *[_FAT] * count])
    head = struct.pack(
        "<8s16xHHHHH6xIII4xIIIII", bytes.fromhex("d0cf11e0a1b11ae1"), 0x3E, 3, 0xFFFE, 9, 6,
        0, count, first_entry, _MINI_LIMIT, first_mini, mini_count, _END, 0,
    )  # fmt: skip
    places = [*range(first, first + count)]
    return head + struct.pack("<109I", *places, *[_FREE] * (109 - count)) + bytes(body) + table
