"""Keys, tokens and passwords: what is encrypted, what is signed, what is only hashed."""

import hashlib
import hmac
import secrets
import threading
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError, VerifyMismatchError
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.kit import metrics
from app.kit.errors import busy

SIGNATURE_BYTES = 16
# Argon2id with 19 MiB, two passes, one lane: OWASP Password Storage Cheat Sheet. One hash takes
# about 20 ms of one core.
ARGON2_MEMORY_KIB = 19 * 1024
ARGON2_PASSES = 2
ARGON2_LANES = 1
# With two hashes under way a process spends 38 MiB on them however many sign-ins arrive at once.
HASHES_UNDER_WAY = 2
# Normalisation is quadratic in a run of combining characters, so it stops where nobody types.
_NORMALISED_MAX = 1024

_hasher = PasswordHasher(
    time_cost=ARGON2_PASSES,
    memory_cost=ARGON2_MEMORY_KIB,
    parallelism=ARGON2_LANES,
    type=Type.ID,
)
_hashing = threading.BoundedSemaphore(HASHES_UNDER_WAY)


class DecryptionFailed(Exception):  # noqa: N818 - names what happened to the caller's token
    """The token is damaged, or none of the configured encryption keys made it."""


class Keyring:
    """The service's keys: Fernet for what must be read back, keyed hashes for the rest.

    :param secret_key: root of all derived keys (HKDF-SHA-256, RFC 5869; one key per purpose, so
        that a signature made for one purpose is worth nothing for another).
    :param encryption_keys: Fernet keys; the first encrypts, all decrypt.
    :raises ValueError: an empty secret key, no encryption key or a malformed one.
    """

    def __init__(self, secret_key: str, encryption_keys: Sequence[str]) -> None:
        if not secret_key or not encryption_keys:
            raise ValueError("a secret key and at least one encryption key are needed")
        self._root = secret_key.encode()
        fernets = [Fernet(key) for key in encryption_keys]
        self._first = fernets[0]
        self._fernet = MultiFernet(fernets)
        self._derive = lru_cache(maxsize=128)(self._derive_key)

    def encrypt(self, plain: bytes | str) -> str:
        """Fernet token of ``plain`` (text as UTF-8), made with the first key.

        :raises UnicodeEncodeError: text with lone surrogates.
        """
        data = plain.encode() if isinstance(plain, str) else plain
        return self._fernet.encrypt(data).decode("ascii")

    def decrypt(self, token: str) -> bytes:
        """The bytes behind a token of `encrypt`.

        :raises DecryptionFailed: see there.
        """
        try:
            return self._fernet.decrypt(_token_bytes(token))
        except InvalidToken:
            raise DecryptionFailed("the token does not decrypt with any configured key") from None

    def rotate(self, token: str) -> str:
        """The same content and time of making under the first key.

        :raises DecryptionFailed: as `decrypt`.
        """
        try:
            return self._fernet.rotate(_token_bytes(token)).decode("ascii")
        except InvalidToken:
            raise DecryptionFailed("the token does not decrypt with any configured key") from None

    def needs_rotation(self, token: str) -> bool:
        """Whether the token was made with another key than the first.

        :raises DecryptionFailed: as `decrypt`.
        """
        try:
            self._first.decrypt(_token_bytes(token))
        except InvalidToken:
            self.decrypt(token)
            return True
        return False

    def sign(self, purpose: str, payload: bytes) -> bytes:
        """HMAC-SHA-256 of the payload, truncated to 16 bytes (RFC 2104, section 5)."""
        return hmac.digest(self._derive(f"sign:{purpose}"), payload, "sha256")[:SIGNATURE_BYTES]

    def verify(self, purpose: str, payload: bytes, signature: bytes) -> bool:
        """Whether `sign` made this signature; takes the same time for every wrong one."""
        return hmac.compare_digest(self.sign(purpose, payload), signature)

    def fingerprint(self, purpose: str, secret: str) -> str:
        """What is stored of a token or API key instead of itself: 64 hexadecimal characters.

        A plain keyed hash is enough, as these secrets are random and long; passwords are not.
        """
        key = self._derive(f"fingerprint:{purpose}")
        return hmac.digest(key, secret.encode("utf-8", "surrogatepass"), "sha256").hex()

    def derived_key(self, purpose: str) -> bytes:
        """32 bytes for a library that wants a key of its own, such as the token signer."""
        return self._derive(f"key:{purpose}")

    def _derive_key(self, info: str) -> bytes:
        kdf = HKDF(
            algorithm=SHA256(), length=hashlib.sha256().digest_size, salt=None, info=info.encode()
        )
        return kdf.derive(self._root)


def _token_bytes(token: str) -> bytes:
    try:
        return token.encode("ascii")
    except UnicodeEncodeError:
        raise DecryptionFailed("the token has characters that no token has") from None


def random_token(nbytes: int = 32) -> str:
    """``nbytes`` from the system's generator in URL-safe base64 without padding."""
    return secrets.token_urlsafe(nbytes)


def random_hex(nbytes: int = 32) -> str:
    """``nbytes`` from the system's generator as ``2 * nbytes`` hexadecimal characters."""
    return secrets.token_hex(nbytes)


class Gate:
    """How many threads may be busy with passwords at once, hashing or waiting for it.

    A short rush waits. Once threads have had to wait for `rush` seconds on end it is a flood, and
    who finds no place is refused at once: the threads that are left serve everybody else.
    """

    rush = 1.0
    patience = 0.25

    def __init__(self) -> None:
        self.places = HASHES_UNDER_WAY
        self._inside = 0
        self._free = threading.Condition()
        self._held = threading.local()
        self._crowded_since = self._crowded_last = 0.0

    @contextmanager
    def place(self) -> Iterator[None]:
        """Take a place for the block; in a block that has one, the same. Raises 503."""
        if getattr(self._held, "place", False):
            yield
            return
        self._enter()
        self._held.place = True
        try:
            yield
        finally:
            self._held.place = False
            with self._free:
                self._inside -= 1
                self._free.notify()

    def _enter(self) -> None:
        with self._free:
            if self._inside >= self.places:
                now = time.monotonic()
                if now - self._crowded_last > self.rush:
                    self._crowded_since = now
                self._crowded_last = now
                flood = now - self._crowded_since > self.rush
                if flood or not self._free.wait_for(self._has_place, self.patience):
                    metrics.LOGINS_TURNED_AWAY.inc()
                    raise busy("Too many people are signing in. Try again shortly.", retry_after=1)
            self._inside += 1

    def _has_place(self) -> bool:
        return self._inside < self.places


gate = Gate()


def leave_threads(threads: int) -> None:
    """Of a process of `threads` threads, passwords may keep all but one busy."""
    gate.places = max(1, threads - 1)


def hash_password(password: str) -> str:
    """Argon2id hash in PHC string format, with a salt of its own.

    :raises ApiError: 503 `service_unavailable` when too many are waiting for theirs.
    """
    with gate.place(), _hashing:
        return _hasher.hash(_prepared(password))


def verify_password(stored: str, password: str) -> bool:
    """Whether ``password`` belongs to the stored hash.

    A stored value that is no hash (an account without a password) belongs to no password, and is
    refused only after as much work.

    :raises ApiError: as `hash_password`.
    """
    try:
        with gate.place(), _hashing:
            return _hasher.verify(stored, _prepared(password))
    except VerifyMismatchError:
        return False
    except (InvalidHashError, VerificationError, UnicodeEncodeError):
        dummy_verify(password)
        return False


def needs_rehash(stored: str) -> bool:
    """Whether a hash was made with other parameters than today's."""
    return _hasher.check_needs_rehash(stored)


@cache
def nobodys_hash() -> str:
    """A hash that no password belongs to: what an account that does not exist is checked against.

    Made with today's parameters, so that checking against it takes the time of any other.
    """
    return hash_password(random_token())


def dummy_verify(password: str) -> None:
    """The work of `verify_password` for an account that does not exist, so that time tells none."""
    hash_password(password)


def _prepared(password: str) -> bytes:
    # Keyboards differ in how they compose a letter: NIST SP 800-63B, section 5.1.1.2.
    if len(password) <= _NORMALISED_MAX:
        password = unicodedata.normalize("NFKC", password)
    return password.encode("utf-8", "surrogatepass")
