"""Password rules: limited length, not common, and not made of the user's name or email address.

Common passwords are the passwords in zxcvbn's list (Wheeler, "zxcvbn: Low-Budget Password Strength
Estimation", USENIX Security 2016): 30,000 passwords from published leaks, sorted by frequency.
NIST SP 800-63B, section 5.1.1.2, requires these checks and advises against rules about character
types.
"""

import re
import unicodedata
from functools import cache
from itertools import pairwise

from app.kit import errors

MIN_LENGTH = 10
MAX_LENGTH = 1024
_MIN_WORD_LENGTH = 3
"""The minimum length of a word in the name or address that a password must not consist of."""
_MAX_REPEATED_UNIT_LENGTH = 4
"""The maximum length of a group of characters whose repetition counts as a common password."""
_MIN_OTHER_LETTERS = 4
"""The number of other letters that a password with the user's name or address needs."""


def check(password: str, *, email: str, name: str, field: str = "password") -> None:
    """Raise 400 `validation_error` on `field` if a password has an invalid length or is weak.

    The error's `details.reason` is too_short, too_long, common or personal.
    """
    if len(password) < MIN_LENGTH:
        message = f"Must have at least {MIN_LENGTH} characters."
        raise errors.invalid(message, field, reason="too_short")
    if len(password) > MAX_LENGTH:
        message = f"Must have at most {MAX_LENGTH} characters."
        raise errors.invalid(message, field, reason="too_long")
    folded_password = _casefold(password)
    if _is_common(folded_password):
        message = "This password is too common. Choose a different one."
        raise errors.invalid(message, field, reason="common")
    if _consists_of_words(folded_password, _get_personal_words(email, name)):
        message = "Must not consist of your name or email address."
        raise errors.invalid(message, field, reason="personal")


@cache
def _load_common_passwords() -> frozenset[str]:
    # Imported here because it takes 13 MB and most processes never need it.
    from zxcvbn.frequency_lists import FREQUENCY_LISTS  # noqa: PLC0415

    return frozenset(FREQUENCY_LISTS["passwords"])


def _casefold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _is_common(folded_password: str) -> bool:
    """Return whether a password is common, ignoring repetition and surrounding digits or symbols.

    Sequences such as 0123456789 also count as common, and so do repetitions of a group of at most
    `_MAX_REPEATED_UNIT_LENGTH` characters, such as abcabcabc.
    """
    core = re.sub(r"^[\W\d_]+|[\W\d_]+$", "", folded_password)
    unit = _find_repeated_unit(folded_password)
    if len(unit) <= _MAX_REPEATED_UNIT_LENGTH or _is_sequence(folded_password):
        return True
    return not _load_common_passwords().isdisjoint(
        {folded_password, core, unit, _find_repeated_unit(core)}
    )


def _is_sequence(text: str) -> bool:
    """Return whether the characters are consecutive and ascending or descending, as in 0123."""
    steps = {ord(b) - ord(a) for a, b in pairwise(text)}
    return steps in ({1}, {-1})


def _find_repeated_unit(text: str) -> str:
    """Return the shortest string whose repetition gives `text`."""
    return text[: (text + text).find(text, 1)] if text else text


def _get_personal_words(email: str, name: str) -> list[str]:
    """Return the words in the name and the email address, longest first.

    The whole name and the whole address, without separators, also count as words. Words with fewer
    than `_MIN_WORD_LENGTH` characters are left out.
    """
    words = re.split(r"[\W_]+", f"{_casefold(name)} {_casefold(email)}")
    joined_words = [re.sub(r"[\W_]+", "", _casefold(text)) for text in (name, email)]
    return sorted(
        (w for w in {*words, *joined_words} if len(w) >= _MIN_WORD_LENGTH), key=len, reverse=True
    )


def _consists_of_words(folded_password: str, words: list[str]) -> bool:
    """Return whether a password contains any of `words` and few other letters.

    "Few" means that fewer than `_MIN_OTHER_LETTERS` letters remain after the words are removed.
    """
    characters = re.sub(r"[\W_]+", "", folded_password)
    remaining = characters
    for word in words:
        remaining = remaining.replace(word, " ")
    letter_count = sum(character.isalpha() for character in remaining)
    return remaining != characters and letter_count < _MIN_OTHER_LETTERS
