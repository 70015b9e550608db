"""Private keys: damaged keys are found early, and costly ones are not decrypted."""

import base64
from collections.abc import Callable
from typing import Any

import asyncssh
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from app.engines.sources import private_keys
from app.engines.sources.private_keys import find_key_problem, load_key
from tests.engines.sources.large_keys import build_large_key

PASSPHRASE = "never-in-a-message"
_PBES2 = b"\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0d"
_PBKDF2 = b"\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0c"
_SCRYPT = b"\x2b\x06\x01\x04\x01\xda\x47\x04\x0b"
KEY = asyncssh.generate_private_key("ssh-ed25519")


def _encode(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    return bytes([tag, 0x82]) + len(content).to_bytes(2) + content


def _build_pkcs8(function: bytes, *numbers: int) -> str:
    """Return an encrypted key whose derivation function has these parameters."""
    integers = [_encode(2, number.to_bytes(8)) for number in numbers]
    parameters = _encode(0x30, _encode(4, bytes(8)), *integers)
    derivation = _encode(0x30, _encode(6, function), parameters)
    algorithm = _encode(0x30, _encode(6, _PBES2), _encode(0x30, derivation))
    data = base64.b64encode(_encode(0x30, algorithm, _encode(4, bytes(64)))).decode()
    return f"-----BEGIN ENCRYPTED PRIVATE KEY-----\n{data}\n-----END ENCRYPTED PRIVATE KEY-----\n"


def _build_openssh(rounds: int) -> str:
    """Return an encrypted key in OpenSSH format with this number of rounds."""
    options = bytes([0, 0, 0, 16]) + bytes(16) + rounds.to_bytes(4)
    strings = (b"aes256-ctr", b"bcrypt", options, b"key")
    data = b"openssh-key-v1\0" + b"".join(len(text).to_bytes(4) + text for text in strings)
    label, content = "OPENSSH PRIVATE KEY", base64.b64encode(data).decode()
    return f"-----BEGIN {label}-----\n{content}\n-----END {label}-----\n"


@pytest.mark.parametrize("form", ["openssh", "pkcs8-pem", "pkcs1-pem"])
def test_an_encrypted_key_is_loaded_with_its_passphrase(form: str) -> None:
    key = asyncssh.generate_private_key("ecdsa-sha2-nistp256")
    text = key.export_private_key(form, PASSPHRASE, rounds=16).decode()
    assert load_key(text, PASSPHRASE).private_numbers().private_value  # type: ignore[union-attr]
    assert find_key_problem({"private_key": text, "passphrase": PASSPHRASE}) is None


@pytest.mark.parametrize(
    "text",
    [
        _build_openssh(501),
        _build_openssh(2**32 - 1),
        _build_pkcs8(_PBKDF2, 2**32),
        _build_pkcs8(_SCRYPT, 2**20, 8, 1),
        "\n" + KEY.export_private_key("openssh").decode() + _build_openssh(501),
        _build_pkcs8(_PBKDF2, 2**32).replace("\n", "\nX-Integer: AgEB\n\n", 1),
        _build_openssh(501).replace("\n", "\n-----END-----\n", 1),
    ],
    ids=["many_rounds", "most_rounds", "pbkdf2", "scrypt", "second_key", "header", "two_ends"],
)
def test_a_key_that_takes_long_to_decrypt_is_refused(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def decrypt(*_: Any, **__: Any) -> None:
        pytest.fail("the key is decrypted")

    monkeypatch.setattr(private_keys, "load_ssh_private_key", decrypt)
    monkeypatch.setattr(private_keys, "load_pem_private_key", decrypt)
    with pytest.raises(private_keys.KEY_ERRORS):
        load_key(text, PASSPHRASE)


def test_a_key_that_takes_long_to_validate_is_refused() -> None:
    key = build_large_key()
    form = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    problem = find_key_problem({"private_key": key.private_bytes(*form).decode()})
    assert problem is not None
    assert problem[0] == "private_key"


def _cut(text: str) -> str:
    return text[:150]


def _get_public_key(_text: str) -> str:
    return KEY.export_public_key().decode()


@pytest.mark.parametrize("change", [str.lower, _cut, _get_public_key])
def test_a_damaged_key_is_a_problem(change: Callable[[str], str]) -> None:
    text = KEY.export_private_key("openssh").decode()
    assert find_key_problem({"private_key": text}) is None
    problem = find_key_problem({"private_key": change(text)})
    assert problem is not None
    assert problem[0] == "private_key"


def test_a_passphrase_without_an_encrypted_key_is_a_problem() -> None:
    key, passphrase = KEY.export_private_key("openssh").decode(), {"passphrase": PASSPHRASE}
    encrypted = KEY.export_private_key("openssh", PASSPHRASE, rounds=16)
    problems = [
        find_key_problem({"private_key": key, **passphrase}),
        find_key_problem({"private_key": encrypted.decode()}),
    ]
    assert [problem and problem[0] for problem in problems] == ["passphrase", "passphrase"]
    assert find_key_problem({"password": PASSPHRASE}) is None
