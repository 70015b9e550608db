"""Slugs, which identify organizations in URLs and headers and never change."""

import re
import secrets

from slugify import slugify

MIN_LENGTH = 3
MAX_LENGTH = 63
PATTERN = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_RESERVED = """
about account accounts admin admins api app apps assets audit auth billing blog cdn close config
console control-plane dashboard docs download downloads email exports favicon files ftp health
help host hostmaster imprint internal invitations invite legal localhost login logout mail me
members metrics net new news noreply null openapi openapi-json operator organization organizations
orgs owner password postmaster privacy public redoc register robots root saml search security
settings shop signin signout signup smtp sso start static status support system team teams terms
test tour undefined unsubscribe user users webmaster webhook webhooks well-known www
"""
RESERVED = frozenset(_RESERVED.split())
"""Slugs that no organization may have: names of present or future routes, and names that users
could mistake for the service itself."""

_SUFFIX_LENGTH = 6
_SUFFIX_CHARACTERS = "abcdefghjkmnpqrstvwxyz23456789"
_MAX_STEM_LENGTH = MAX_LENGTH - 1 - _SUFFIX_LENGTH
_MAX_NAME_LENGTH = 200


def is_slug(text: str) -> bool:
    """Return whether `text` has 3 to 63 characters: a-z, 0-9, and single hyphens between them."""
    has_valid_length = MIN_LENGTH <= len(text) <= MAX_LENGTH
    return has_valid_length and re.fullmatch(PATTERN, text) is not None


def build_slug(name: str) -> str | None:
    """Build a slug by transliterating a name; return None if the slug is invalid or reserved."""
    slug = _transliterate(name, MAX_LENGTH)
    return slug if is_slug(slug) and slug not in RESERVED else None


def build_slug_with_suffix(name: str) -> str:
    """Build a slug by transliterating a name and adding a random suffix.

    Used if the slug without a suffix is taken, reserved or invalid. The suffix is random because a
    sequential number would reveal how many organizations have the same name.
    """
    suffix = "".join(secrets.choice(_SUFFIX_CHARACTERS) for _ in range(_SUFFIX_LENGTH))
    return f"{_transliterate(name, _MAX_STEM_LENGTH) or 'organization'}-{suffix}"


def _transliterate(name: str, max_length: int) -> str:
    return slugify(
        name[:_MAX_NAME_LENGTH], max_length=max_length, word_boundary=True, save_order=True
    )
