"""Parse the lines of FTP listings."""

import re
from datetime import UTC, datetime

from app.engines.sources.folders import FolderItem, build_item
from app.engines.sources.paths import is_valid_name

# The names of the owner and the group may contain spaces, and some servers omit the group.
_UNIX_LINE = re.compile(
    r"(?P<entry_type>[-dl])[-rwxsStTl]{9}\S?\s+\d+(?:\s+\S+){1,8}?\s+(?P<size>\d+)\s+"
    r"(?:\w{3}\s+\d{1,2}\s+[\d:]{4,5}|\d{4}-\d\d-\d\d\s+[\d:]{5,8})\s(?P<name>.+)"
)
_WINDOWS_LINE = re.compile(
    r"(?:\d\d-\d\d-\d{2,4}|\d{4}-\d\d-\d\d)\s+\d\d:\d\d\s?(?:[AP]M)?\s+"
    r"(?P<size><DIR>|\d+)\s(?P<name>.+)"
)
# Matches an empty line, the total of a listing, links, devices, the folder itself and its parent.
_OTHER_LINE = re.compile(r"\s*|\S+\s+\d+|[bclps][-rwxsStTl]{9}.*|.*\s\.\.?")


def parse_mlsd_line(line: str) -> FolderItem | None:
    """Parse a line from MLSD. Return None for invalid names, links, devices, `.` and `..`."""
    facts, _, name = line.partition(" ")
    values = dict(fact.lower().partition("=")[::2] for fact in facts.split(";") if fact)
    entry_type = values.get("type")
    raw_name = name.encode("latin-1", "replace")
    if entry_type not in ("file", "dir") or not is_valid_name(raw_name):
        return None
    size = values.get("size", "")
    is_valid_size = size.isascii() and size.isdigit()
    return build_item(
        raw_name,
        is_folder=entry_type == "dir",
        size=int(size) if is_valid_size else None,
        modified=parse_time(values.get("modify")),
    )


def parse_list_line(line: str) -> FolderItem | None:
    """Parse a line from LIST. Return None for links, invalid names and unknown formats.

    The known formats are the formats of Unix and of Windows.
    """
    match = _UNIX_LINE.fullmatch(line) or _WINDOWS_LINE.fullmatch(line)
    if match is None:
        return None
    entry_type = match.groupdict().get("entry_type", "-")
    name = match["name"].lstrip(" ") if match.re is _WINDOWS_LINE else match["name"]
    raw_name = name.encode("latin-1", "replace")
    if entry_type == "l" or not is_valid_name(raw_name):
        return None
    is_folder = entry_type == "d" or match["size"] == "<DIR>"
    size = None if is_folder else int(match["size"])
    return build_item(raw_name, is_folder=is_folder, size=size, modified=None)


def is_entry_line(line: str) -> bool:
    """Return whether a line from LIST may describe a document or folder, even in another format."""
    return _OTHER_LINE.fullmatch(line) is None


def parse_time(text: str | None) -> float | None:
    """Convert a UTC time from MLSD or MDTM to seconds since 1970, or an invalid time to None."""
    try:
        timestamp, _, fraction = (text or "").strip().partition(".")
        seconds = datetime.strptime(timestamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
        return seconds + float(f"0.{fraction or 0}")
    except (ValueError, OverflowError):
        return None
