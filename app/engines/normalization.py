"""Normalize Unicode text in linear time.

`unicodedata.normalize` sorts each run of combining marks in quadratic time without releasing the
interpreter lock. A run of 100,000 marks would stop all threads of a process for ten seconds.
PostgreSQL takes longer, and its `normalize` cannot be canceled.
"""

import re
import unicodedata
from functools import cache
from typing import Literal

MAX_MARKS = 64
"""The maximum number of consecutive combining marks that are normalized. The Stream-Safe Text
Format (UAX 15, section 13) allows 30, more than any language needs."""
_FIRST_MARK, _END_OF_MARKS = 0x300, 0x1F000
"""The range of code points that contains all combining marks; the end is exclusive."""

_REPLACEMENT = "\ufffd"

Form = Literal["NFC", "NFKC", "NFKD"]


def normalize(form: Form, text: str) -> str:
    """Normalize text, but leave runs of more than MAX_MARKS combining marks unchanged."""
    # The check takes linear time: it ends at the first mark that must be sorted.
    if unicodedata.is_normalized(form, text):
        return text
    parts, position = [], 0
    for match in _compile_long_runs().finditer(text):
        parts += [unicodedata.normalize(form, text[position : match.start()]), match.group()]
        position = match.end()
    return "".join([*parts, unicodedata.normalize(form, text[position:])])


def limit_combining_marks(text: str) -> str:
    """Replace each combining mark after MAX_MARKS consecutive combining marks with U+FFFD.

    The result has only short runs of marks, so any program can normalize it quickly.
    """
    # Every run of more than MAX_MARKS marks contains at least one of the sampled characters.
    if text.isascii() or not _compile_marks("").search(text[::MAX_MARKS]):
        return text
    return _compile_long_runs().sub(
        lambda match: match[0][:MAX_MARKS] + _REPLACEMENT * (len(match[0]) - MAX_MARKS), text
    )


def _compile_long_runs() -> re.Pattern[str]:
    return _compile_marks(f"{{{MAX_MARKS + 1},}}")


@cache
def _compile_marks(repetition: str) -> re.Pattern[str]:
    # Some characters that are not marks have a decomposition that begins with a mark.
    marks = (
        char
        for char in map(chr, range(_FIRST_MARK, _END_OF_MARKS))
        if unicodedata.combining(unicodedata.normalize("NFKD", char)[0])
    )
    return re.compile(f"[{''.join(marks)}]{repetition}")
