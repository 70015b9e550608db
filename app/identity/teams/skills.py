"""Normalization of skills, so that spellings that differ in case or spacing compare as equal."""

import unicodedata
from collections.abc import Iterable

MAX_SKILLS = 50
MAX_SKILL_LENGTH = 64
"""The maximum length in characters of a skill, before it is normalized."""


def normalize(skill: str) -> str:
    """Return a skill in its stored form: NFC, trimmed, with single spaces."""
    return " ".join(unicodedata.normalize("NFC", skill).split())


def get_comparison_key(skill: str) -> str:
    """Return a skill's comparison key: in NFKC form, trimmed, with single spaces, case-folded."""
    return normalize(unicodedata.normalize("NFKC", skill)).casefold()


def deduplicate_skills(skills: Iterable[str]) -> dict[str, str]:
    """Remove duplicates, and return the stored form of each skill by its comparison key.

    The first spelling of each skill is kept, and the order does not change.
    """
    skills_by_key: dict[str, str] = {}
    for skill in skills:
        skills_by_key.setdefault(get_comparison_key(skill), normalize(skill))
    return skills_by_key
