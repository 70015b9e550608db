"""Read private keys.

An encrypted key specifies how much computation its decryption takes, and the validation of a large
RSA key takes hours. Without limits, a key could occupy a processor for years, or use all memory.
"""

import base64
import re
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, TypeAlias

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key

PrivateKey: TypeAlias = Ed25519PrivateKey | EllipticCurvePrivateKey | RSAPrivateKey
KEY_ERRORS = (ValueError, TypeError, KeyError, UnsupportedAlgorithm)
"""The errors for a private key that cannot be read."""
UNREADABLE_KEY_MESSAGE = "The private key cannot be read; check that it is complete."
_MAX_RSA_BITS = 8192
_MAX_BCRYPT_ROUNDS = 500
"""The maximum number of rounds for a key in OpenSSH format. `ssh-keygen` uses 24."""
_MAX_ITERATIONS = 4_000_000
"""The maximum number of iterations of PBKDF2, and the maximum product of the parameters of scrypt,
which limits the memory to 512 MB."""
# In other PEM formats, the passphrase takes only one round of MD5.
_ENCRYPTED_KEY = re.compile(
    rb"-----BEGIN (OPENSSH|ENCRYPTED) PRIVATE KEY-----(.*?)-----END \1 PRIVATE KEY-----", re.DOTALL
)
_OPENSSH_MAGIC = b"openssh-key-v1\0"
_SCRYPT_OID = b"\x2b\x06\x01\x04\x01\xda\x47\x04\x0b"
_SEQUENCE, _INTEGER = 0x30, 0x02


def load_key(text: str, passphrase: str | None) -> PrivateKey:
    """Load a private key in OpenSSH or PEM format.

    Raises TypeError if the key is encrypted and there is no passphrase, or if there is a passphrase
    and the key is not encrypted. Raises another of `KEY_ERRORS` if the key cannot be read.
    """
    data = text.encode()
    if passphrase is not None:
        _check_decryption_cost(data)
    load = load_ssh_private_key if b"BEGIN OPENSSH" in data else load_pem_private_key
    # Validation takes a second. paramiko repeats it when a connection is opened, and the signatures
    # of an invalid key are refused by the host.
    key = load(
        data,
        None if passphrase is None else passphrase.encode(),
        unsafe_skip_rsa_key_validation=True,
    )
    if not isinstance(key, PrivateKey):
        raise UnsupportedAlgorithm("the key type is not supported")
    if isinstance(key, RSAPrivateKey) and key.key_size > _MAX_RSA_BITS:
        raise ValueError("the key takes too long to validate")
    return key


def find_key_problem(settings: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the name of the invalid setting and a message, or None if there is no problem.

    Does not decrypt the key, because this may take seconds.
    """
    text, has_passphrase = settings.get("private_key"), "passphrase" in settings
    if text is None:
        return None
    try:
        load_key(text, None)
    except TypeError:
        message = "The private key is encrypted. Enter its passphrase."
        return None if has_passphrase else ("passphrase", message)
    except KEY_ERRORS:
        return "private_key", UNREADABLE_KEY_MESSAGE
    message = "The private key is not encrypted. Remove the passphrase."
    return ("passphrase", message) if has_passphrase else None


def _check_decryption_cost(text: bytes) -> None:
    """Raise ValueError if the decryption of a key would take too much time or memory."""
    for label, content in _ENCRYPTED_KEY.findall(text):
        # Validate strictly, because the loaders must not read data that is not checked here, for
        # example after a header.
        data = base64.b64decode(b"".join(content.split()), validate=True)
        if label == b"OPENSSH":
            is_too_long = _read_bcrypt_rounds(data) > _MAX_BCRYPT_ROUNDS
        else:
            # The parameters are the only integers outside the encrypted key.
            numbers = list(_iterate_integers(data))
            work = prod(numbers) if _SCRYPT_OID in data else max(numbers, default=0)
            is_too_long = work > _MAX_ITERATIONS
        if is_too_long:
            raise ValueError("the key takes too long to decrypt")


def _read_bcrypt_rounds(data: bytes) -> int:
    """Read the number of rounds, which is the last of the options for the key derivation."""
    position = len(_OPENSSH_MAGIC)
    for _ in ("cipher", "function", "options"):
        start = position + 4
        position = start + int.from_bytes(data[position:start])
    return int.from_bytes(data[start:position][-4:])


def _iterate_integers(data: bytes) -> Iterator[int]:
    """Yield the integers in the sequences of DER-encoded data."""
    position = 0
    while position + 2 <= len(data):
        tag, size, start = data[position], data[position + 1], position + 2
        if size & 0x80:
            size_end = start + (size & 0x7F)
            size, start = int.from_bytes(data[start:size_end]), size_end
        position = start if tag == _SEQUENCE else start + size
        if tag == _INTEGER:
            yield int.from_bytes(data[start:position])
