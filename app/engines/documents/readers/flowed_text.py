"""Join the lines of flowed text (RFC 3676), which is wrapped for old email programs."""

import re
from email.message import Message

_LINE = re.compile(r"(>*) ?(.*)", re.DOTALL)
_SIGNATURE_SEPARATOR = "-- "


def is_flowed(part: Message) -> bool:
    """Return whether a text part is flowed text, whose lines may continue on the next line."""
    return str(part.get_param("format", "")).lower() == "flowed"


def join_lines(text: str, *, delete_spaces: bool) -> str:
    """Return flowed text with one line for each paragraph, as email programs display it.

    A line that ends with a space continues on the next line if both have the same number of
    quotation marks (`>`). Empty lines and the signature separator (`-- `) are not joined.

    Args:
        text: The decoded text of the part.
        delete_spaces: Whether to delete the spaces at the ends of continued lines (`DelSp=yes`).
    """
    pieces: list[str] = []
    open_quotes: str | None = None  # the quotation marks of a line that continues
    for line in text.replace("\r\n", "\n").split("\n"):
        match = _LINE.fullmatch(line)
        quotes, content = match.groups() if match else ("", line)
        is_separator = content == _SIGNATURE_SEPARATOR
        if quotes != open_quotes or is_separator or not content:
            pieces.append(f"\n{quotes} " if quotes else "\n")
        open_quotes = quotes if content.endswith(" ") and not is_separator else None
        is_shortened = open_quotes is not None and delete_spaces
        pieces.append(content[:-1] if is_shortened else content)
    return "".join(pieces)[1:]
