"""Keys, tokens and passwords: encryption, signatures and hashes."""

import hashlib
import hmac
import secrets
import threading
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from uuid import UUID

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError, VerifyMismatchError
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.kit import metrics
from app.kit.errors import busy

SIGNATURE_BYTES = 16
# The OWASP Password Storage Cheat Sheet recommends Argon2id with 19 MiB, two passes and one lane. A
# hash takes about 20 ms of one core.
ARGON2_MEMORY_KIB = 19 * 1024
ARGON2_PASSES = 2
ARGON2_LANES = 1
# Two concurrent hashes need 38 MiB per process, regardless of the number of sign-ins.
MAX_CONCURRENT_HASHES = 2
# Normalization is quadratic in runs of combining characters, so longer passwords skip it.
_MAX_NORMALIZED_LENGTH = 1024

_hasher = PasswordHasher(
    time_cost=ARGON2_PASSES,
    memory_cost=ARGON2_MEMORY_KIB,
    parallelism=ARGON2_LANES,
    type=Type.ID,
)
_hash_semaphore = threading.BoundedSemaphore(MAX_CONCURRENT_HASHES)


class DecryptionFailed(Exception):  # noqa: N818 - names what happened
    """The token is damaged, or was encrypted with a key that is not configured."""


class Keyring:
    """The secret keys of the service, and the functions that encrypt, sign and hash with them.

    Args:
        secret_key: the key from which all other keys are derived (HKDF-SHA-256, RFC 5869). Each
            purpose has a separate key, so that a signature for one purpose is invalid for another.
        encryption_keys: Fernet keys. The first key encrypts; all keys can decrypt.

    Raises:
        ValueError: the secret key is empty, or an encryption key is missing or malformed.
    """

    def __init__(self, secret_key: str, encryption_keys: Sequence[str]) -> None:
        if not secret_key or not encryption_keys:
            raise ValueError("a secret key and at least one encryption key are required")
        self._root = secret_key.encode()
        fernets = [Fernet(key) for key in encryption_keys]
        self._first_fernet = fernets[0]
        self._fernet = MultiFernet(fernets)
        self._derive = lru_cache(maxsize=128)(self._derive_key)

    def encrypt(self, plain: bytes | str) -> str:
        """Encrypt `plain` with the first key, and return the Fernet token.

        A string is encoded as UTF-8. Raises UnicodeEncodeError if it has lone surrogates.
        """
        data = plain.encode() if isinstance(plain, str) else plain
        return self._fernet.encrypt(data).decode("ascii")

    def decrypt(self, token: str) -> bytes:
        """Return the decrypted content of a token from `encrypt`.

        Raises DecryptionFailed if no configured key can decrypt the token.
        """
        try:
            return self._fernet.decrypt(_encode_token(token))
        except InvalidToken:
            raise DecryptionFailed("no configured key can decrypt the token") from None

    def rotate(self, token: str) -> str:
        """Re-encrypt a token with the first key. Its content and timestamp stay the same.

        Raises DecryptionFailed if no configured key can decrypt the token.
        """
        try:
            return self._fernet.rotate(_encode_token(token)).decode("ascii")
        except InvalidToken:
            raise DecryptionFailed("no configured key can decrypt the token") from None

    def needs_rotation(self, token: str) -> bool:
        """Return whether the token was encrypted with a key other than the first.

        Raises DecryptionFailed if no configured key can decrypt the token.
        """
        try:
            self._first_fernet.decrypt(_encode_token(token))
        except InvalidToken:
            self.decrypt(token)
            return True
        return False

    def sign(self, purpose: str, payload: bytes) -> bytes:
        """Return the HMAC-SHA-256 of a payload, truncated to 16 bytes (RFC 2104, section 5)."""
        return hmac.digest(self._derive(f"sign:{purpose}"), payload, "sha256")[:SIGNATURE_BYTES]

    def verify(self, purpose: str, payload: bytes, signature: bytes) -> bool:
        """Return whether the signature is valid for this purpose and payload, in constant time."""
        return hmac.compare_digest(self.sign(purpose, payload), signature)

    def fingerprint(self, purpose: str, secret: str) -> str:
        """Compute the hash to store instead of a token or API key: 64 hexadecimal characters.

        A keyed hash is sufficient because these secrets are random and long, unlike passwords.
        """
        key = self._derive(f"fingerprint:{purpose}")
        return hmac.digest(key, secret.encode("utf-8", "surrogatepass"), "sha256").hex()

    def derive_key(self, purpose: str) -> bytes:
        """Derive a 32-byte key for `purpose`, for use outside of this module."""
        return self._derive(f"key:{purpose}")

    def _derive_key(self, info: str) -> bytes:
        kdf = HKDF(
            algorithm=SHA256(), length=hashlib.sha256().digest_size, salt=None, info=info.encode()
        )
        return kdf.derive(self._root)


def _encode_token(token: str) -> bytes:
    try:
        return token.encode("ascii")
    except UnicodeEncodeError:
        raise DecryptionFailed("the token contains invalid characters") from None


class HashingSlots:
    """Limits the number of threads that hash passwords or wait for `_hash_semaphore`.

    Additional threads wait up to `wait_seconds` for a slot. If threads have repeatedly found no
    free slot for more than `flood_seconds`, additional threads get an error immediately, so that
    they can serve other requests.
    """

    flood_seconds = 1.0
    wait_seconds = 0.25

    def __init__(self) -> None:
        self.slot_count = MAX_CONCURRENT_HASHES
        self._used_slots = 0
        self._free = threading.Condition()
        self._reserved = threading.local()
        self._user_ids: set[UUID] = set()
        self._scarce_since = self._last_scarce_at = 0.0

    @contextmanager
    def reserve(self) -> Iterator[None]:
        """Reserve a slot in a `with` block. A nested block shares the slot.

        Raises 503 if no slot becomes free in time.
        """
        if getattr(self._reserved, "slot", False):
            yield
            return
        self._acquire_slot()
        self._reserved.slot = True
        try:
            yield
        finally:
            self._reserved.slot = False
            with self._free:
                self._used_slots -= 1
                self._free.notify()

    @contextmanager
    def reserve_for_user(self, user_id: UUID) -> Iterator[None]:
        """Reserve a slot for a signed-in user, who can reserve at most one slot at a time.

        Otherwise, one user could prevent everybody else from signing in. Raises 503 if the user has
        a slot, or if no slot becomes free in time.
        """
        with self._free:
            if user_id in self._user_ids:
                raise busy("Another request is checking your password. Try again.", retry_after=1)
            self._user_ids.add(user_id)
        try:
            with self.reserve():
                yield
        finally:
            with self._free:
                self._user_ids.discard(user_id)

    def _acquire_slot(self) -> None:
        with self._free:
            if self._used_slots >= self.slot_count:
                now = time.monotonic()
                if now - self._last_scarce_at > self.flood_seconds:
                    self._scarce_since = now
                self._last_scarce_at = now
                is_flood = now - self._scarce_since > self.flood_seconds
                if is_flood or not self._free.wait_for(self._has_free_slot, self.wait_seconds):
                    metrics.LOGINS_REFUSED.inc()
                    raise busy("Too many people are signing in. Try again shortly.", retry_after=1)
            self._used_slots += 1

    def _has_free_slot(self) -> bool:
        return self._used_slots < self.slot_count


hashing_slots = HashingSlots()


def limit_hashing_threads(threads: int) -> None:
    """Limit password hashing to `threads - 1` threads of this process, but at least one thread."""
    hashing_slots.slot_count = max(1, threads - 1)


def hash_password(password: str) -> str:
    """Return the Argon2id hash of a password in PHC string format, with a random salt.

    Raises 503 `service_unavailable` if too many threads are hashing passwords.
    """
    with hashing_slots.reserve(), _hash_semaphore:
        return _hasher.hash(_normalize_password(password))


def verify_password(stored_hash: str, password: str) -> bool:
    """Return whether `password` matches `stored_hash`.

    If `stored_hash` is not a hash (an account without a password), no password matches, but the
    check takes as long as for other accounts. Raises 503 `service_unavailable` if too many threads
    are hashing passwords.
    """
    try:
        with hashing_slots.reserve(), _hash_semaphore:
            return _hasher.verify(stored_hash, _normalize_password(password))
    except VerifyMismatchError:
        return False
    except (InvalidHashError, VerificationError, UnicodeEncodeError):
        verify_dummy_password(password)
        return False


def needs_rehash(stored_hash: str) -> bool:
    """Return whether a stored hash was computed with outdated Argon2id parameters."""
    return _hasher.check_needs_rehash(stored_hash)


@cache
def build_dummy_hash() -> str:
    """Return a hash that matches no password, for accounts that do not exist or have no password.

    It is computed with the current parameters, so a check against it takes as long as other checks.
    """
    return hash_password(secrets.token_urlsafe(32))


def verify_dummy_password(password: str) -> None:
    """Take as long as `verify_password` takes, for an account that has no password hash.

    Otherwise the response time would reveal which accounts have a password. Raises 503
    `service_unavailable` if too many threads are hashing passwords.
    """
    hash_password(password)


def _normalize_password(password: str) -> bytes:
    # Keyboards compose the same character differently: NIST SP 800-63B, section 5.1.1.2.
    if len(password) <= _MAX_NORMALIZED_LENGTH:
        password = unicodedata.normalize("NFKC", password)
    return password.encode("utf-8", "surrogatepass")
