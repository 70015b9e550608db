"""Names of stored files, and what can go wrong with them."""

import re
from uuid import UUID

KEY_MAX = 1024
# An allow-list, as keys are made by the service and never by its users: no "..", no hidden files,
# nothing that a file system or an object store would read in its own way.
_SEGMENT = r"[A-Za-z0-9_][A-Za-z0-9._=-]{0,199}"
_KEY = re.compile(rf"{_SEGMENT}(?:/{_SEGMENT})*")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class InvalidKey(ValueError):  # noqa: N818 - reads as what is wrong
    """The key is not made of plain segments separated by slashes."""


class NotStored(LookupError):  # noqa: N818 - names what was found
    """There is no file under this key."""


class TooLarge(Exception):  # noqa: N818 - names what happened
    """More bytes came than allowed; ``limit`` says how many are."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit} bytes")
        self.limit = limit


class StorageUnavailable(Exception):  # noqa: N818 - names the state
    """The object store cannot be reached or refuses; the cause is attached."""


def is_key(text: str) -> bool:
    """Whether a file can have this name."""
    return len(text) <= KEY_MAX and _KEY.fullmatch(text) is not None


def check_key(key: str) -> str:
    """The key itself, when it is one.

    :raises InvalidKey: see there.
    """
    if not is_key(key):
        raise InvalidKey(f"not a storage key: {key[:100]!r}")
    return key


def check_prefix(prefix: str) -> str:
    """A folder of keys without its trailing slash; the empty string is the whole store.

    :raises InvalidKey: as `check_key`.
    """
    folder = prefix.removesuffix("/")
    return check_key(folder) if folder else ""


def blob_key(organization_id: UUID | str, sha256: str) -> str:
    """Where an organization keeps the content with this SHA-256 (64 hexadecimal characters).

    :raises InvalidKey: no such digest, or an id that cannot stand in a key.
    """
    if not _SHA256.fullmatch(sha256):
        raise InvalidKey("not a SHA-256 in lower-case hexadecimal")
    identifier = str(organization_id)
    if "/" in identifier:
        raise InvalidKey("an organization id has no slash")
    return check_key(f"organizations/{identifier}/blobs/{sha256[:2]}/{sha256}")
