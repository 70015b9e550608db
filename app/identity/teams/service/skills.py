"""What a team can do, in its own words; two spellings of one skill are one."""

import unicodedata
from collections.abc import Iterable

MAX_SKILLS = 50
MAX_SKILL = 64
"""Characters, as they are written."""


def tidy(skill: str) -> str:
    """A skill as it is kept: composed (NFC), trimmed, its spaces single."""
    return " ".join(unicodedata.normalize("NFC", skill).split())


def key(skill: str) -> str:
    """What two spellings of a skill have in common: compatibility forms and case are folded."""
    return tidy(unicodedata.normalize("NFKC", skill)).casefold()


def distinct(skills: Iterable[str]) -> dict[str, str]:
    """Each skill once, as it was first written, by its key; in their order."""
    found: dict[str, str] = {}
    for skill in skills:
        found.setdefault(key(skill), tidy(skill))
    return found
