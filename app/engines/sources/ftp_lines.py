"""Parse the lines of FTP listings."""

import re
from datetime import UTC, datetime
from typing import NamedTuple

from app.engines.sources.folders import Item
from app.engines.sources.paths import encode_name, is_name

_UNIX = re.compile(
    r"(?P<entry_type>[-dl])[-rwxsStTl]{9}\S?\s+\d+\s+\S+\s+\S+\s+(?P<size>\d+)\s+"
    r"(?P<time>\w{3}\s+\d{1,2}\s+[\d:]{4,5})\s(?P<name>.+)"
)
_WINDOWS = re.compile(
    r"(?P<time>\d\d-\d\d-\d{2,4}\s+\d\d:\d\d(?:[AP]M)?)\s+(?P<size><DIR>|\d+)\s(?P<name>.+)"
)


class Line(NamedTuple):
    """An entry of a folder, with its name in the bytes of the server.

    `modified` is in seconds since 1970; it is None if the listing has no exact time.
    """

    name: bytes
    is_folder: bool
    size: int | None
    modified: float | None

    def build_item(self) -> Item:
        """Return the entry, with its size and time as the version of a document."""
        if self.is_folder:
            return Item(encode_name(self.name), is_folder=True)
        version = f"{self.size}-{self.modified}"
        return Item(encode_name(self.name), False, version, self.size, self.modified)  # noqa: FBT003


def parse_facts(line: str) -> Line | None:
    """Parse a line of MLSD. Return None for links, devices and the folder itself."""
    facts, _, name = line.partition(" ")
    values = dict(fact.lower().partition("=")[::2] for fact in facts.split(";") if fact)
    entry_type = values.get("type")
    raw_name = name.encode("latin-1", "replace")
    if entry_type not in ("file", "dir") or not is_name(raw_name):
        return None
    size = values.get("size", "")
    is_size = size.isascii() and size.isdigit()
    return Line(
        raw_name,
        entry_type == "dir",
        int(size) if is_size else None,
        parse_time(values.get("modify")),
    )


def parse_row(line: str) -> Line | None:
    """Parse a line of LIST in the Unix or Windows format. Return None if it is not an entry."""
    match = _UNIX.fullmatch(line) or _WINDOWS.fullmatch(line)
    if match is None:
        return None
    entry_type = match.groupdict().get("entry_type", "-")
    name = match["name"].lstrip(" ") if match.re is _WINDOWS else match["name"]
    raw_name = name.encode("latin-1", "replace")
    if entry_type == "l" or not is_name(raw_name):
        return None
    is_folder = entry_type == "d" or match["size"] == "<DIR>"
    return Line(raw_name, is_folder, None if is_folder else int(match["size"]), None)


def parse_time(text: str | None) -> float | None:
    """Convert a time of MLSD or MDTM, which is in UTC, to seconds since 1970."""
    try:
        timestamp, _, fraction = (text or "").strip().partition(".")
        seconds = datetime.strptime(timestamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
        return seconds + float(f"0.{fraction or 0}")
    except (ValueError, OverflowError):
        return None
