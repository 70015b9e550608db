"""Validation of storage keys, and the exceptions that the storage raises."""

import re
from uuid import UUID

MAX_KEY_LENGTH = 1024
STAGING = "staging"
"""The folder for content that is being received and has no final key yet."""
# Only the service creates keys, so few characters are needed. The pattern excludes "..", hidden
# files, and characters with a special meaning in a file system or an object store.
_SEGMENT = r"[A-Za-z0-9_][A-Za-z0-9._=-]{0,199}"
_KEY = re.compile(rf"{_SEGMENT}(?:/{_SEGMENT})*")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class InvalidKey(ValueError):  # noqa: N818 - names what is wrong
    """The key is too long, or does not consist of valid segments separated by slashes."""


class NotStored(LookupError):  # noqa: N818 - names the state
    """The storage has no file with this key."""


class TooLarge(Exception):  # noqa: N818 - names what happened
    """The content has more bytes than `limit`."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit} bytes")
        self.limit = limit


class StorageUnavailable(Exception):  # noqa: N818 - names the state
    """The storage is unreachable or reports an error, which is the cause of this exception."""


def is_valid_key(text: str) -> bool:
    """Return whether `text` is a valid key: it has valid segments and is not too long."""
    return len(text) <= MAX_KEY_LENGTH and _KEY.fullmatch(text) is not None


def check_key(key: str) -> str:
    """Check a key, and return it. Raises InvalidKey if the key is invalid."""
    if not is_valid_key(key):
        raise InvalidKey(f"not a storage key: {key[:100]!r}")
    return key


def check_prefix(prefix: str) -> str:
    """Check a prefix, and return the folder that it names, without a trailing slash.

    An empty string means the whole storage. Raises InvalidKey if the prefix is not a valid key.
    """
    folder = prefix.removesuffix("/")
    return check_key(folder) if folder else ""


def build_blob_key(organization_id: UUID | str, sha256: str) -> str:
    """Return the key under which an organization stores the content with this SHA-256.

    Raises InvalidKey if `sha256` is not 64 hexadecimal characters in lower case, or if the id
    cannot be part of a key.
    """
    if not _SHA256.fullmatch(sha256):
        raise InvalidKey("the digest is not a SHA-256 in lower-case hexadecimal")
    identifier = str(organization_id)
    if "/" in identifier:
        raise InvalidKey("an organization id must not contain a slash")
    return check_key(f"organizations/{identifier}/blobs/{sha256[:2]}/{sha256}")
