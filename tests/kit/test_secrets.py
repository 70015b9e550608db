import hashlib
import hmac
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from argon2 import PasswordHasher
from cryptography.fernet import Fernet

from app.kit import secrets
from app.kit.errors import ApiError
from app.kit.secrets import (
    DecryptionFailed,
    HashingSlots,
    Keyring,
    hash_password,
    needs_rehash,
    verify_dummy_password,
    verify_password,
)

pytestmark = pytest.mark.usefixtures("service_hasher")

OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))


@pytest.fixture
def keyring() -> Keyring:
    return Keyring("the root of all derived keys", [NEW, OLD])


@pytest.mark.parametrize("plain", ["", "secret", "ключ 🔑", b"\x00\xff" * 1000])
def test_encryption_round_trip(keyring: Keyring, plain: str | bytes) -> None:
    token = keyring.encrypt(plain)
    expected = plain.encode() if isinstance(plain, str) else plain
    assert keyring.decrypt(token) == expected
    assert token != keyring.encrypt(plain)


def test_rotation_moves_a_token_to_the_first_key(keyring: Keyring) -> None:
    token = Keyring("x", [OLD]).encrypt("webhook secret")
    assert keyring.needs_rotation(token)
    rotated = keyring.rotate(token)
    assert not keyring.needs_rotation(rotated)
    assert Keyring("x", [NEW]).decrypt(rotated) == b"webhook secret"
    with pytest.raises(DecryptionFailed):
        Keyring("x", [NEW]).decrypt(token)


@pytest.mark.parametrize(
    "token", ["", "nonsense", "gAAAA", "ключ", "\ud800", "\x00" * 100, "A" * 101]
)
def test_damaged_tokens_are_refused(keyring: Keyring, token: str) -> None:
    for operation in (keyring.decrypt, keyring.rotate, keyring.needs_rotation):
        with pytest.raises(DecryptionFailed):
            operation(token)


def test_a_changed_token_is_refused(keyring: Keyring) -> None:
    token = keyring.encrypt("a" * 40)
    middle = len(token) // 2
    other = "A" if token[middle] != "A" else "B"
    with pytest.raises(DecryptionFailed):
        keyring.decrypt(token[:middle] + other + token[middle + 1 :])


def test_keyring_without_keys_is_refused() -> None:
    with pytest.raises(ValueError, match="required"):
        Keyring("", [NEW])
    with pytest.raises(ValueError, match="required"):
        Keyring("x", [])


def test_signatures_hold_for_their_purpose_payload_and_key_only(keyring: Keyring) -> None:
    signature = keyring.sign("cursor", b"payload")
    assert len(signature) == 16
    assert keyring.verify("cursor", b"payload", signature)
    assert not keyring.verify("cursor", b"payloae", signature)
    assert not keyring.verify("code", b"payload", signature)
    assert not keyring.verify("cursor", b"payload", signature[:15])
    assert not keyring.verify("cursor", b"payload", b"")
    assert not Keyring("another root", [NEW]).verify("cursor", b"payload", signature)


def test_derived_keys_follow_rfc_5869() -> None:
    # The two formulas in the RFC: extract with an empty salt, and expand by one block.
    root = hmac.digest(bytes(32), b"root", hashlib.sha256)
    expected = hmac.digest(root, b"key:jwt\x01", hashlib.sha256)
    assert Keyring("root", [NEW]).derive_key("jwt") == expected


def test_fingerprints_are_stable_keyed_and_separate(keyring: Keyring) -> None:
    fingerprint = keyring.fingerprint("api_key", "lk_123")
    assert len(fingerprint) == 64
    assert fingerprint == Keyring("the root of all derived keys", [OLD]).fingerprint(
        "api_key", "lk_123"
    )
    others = {
        keyring.fingerprint("reset", "lk_123"),
        keyring.fingerprint("api_key", "lk_124"),
        keyring.fingerprint("api_key", "\ud800"),
        Keyring("another root", [NEW]).fingerprint("api_key", "lk_123"),
        keyring.sign("api_key", b"lk_123").hex(),
    }
    assert len(others) == 5
    assert fingerprint not in others


def test_password_round_trip_with_written_down_parameters() -> None:
    stored = hash_password("correct horse battery")
    assert stored.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert verify_password(stored, "correct horse battery")
    assert not verify_password(stored, "correct horse batterx")
    assert not needs_rehash(stored)
    assert stored != hash_password("correct horse battery")


def test_hashes_with_other_parameters_still_verify_and_want_a_new_hash() -> None:
    stored = PasswordHasher(time_cost=1, memory_cost=8 * 1024, parallelism=1).hash("correct horse")
    assert verify_password(stored, "correct horse")
    assert needs_rehash(stored)


def test_composed_and_decomposed_letters_are_one_password() -> None:
    assert verify_password(hash_password("pässwörter"), "pa\u0308sswo\u0308rter")


@pytest.mark.parametrize(
    "password", ["", "\x00", "\ud800 lone", "x" * 100_000, "a" + "\u0301" * 5000]
)
def test_odd_passwords_neither_crash_nor_match_others(password: str) -> None:
    stored = hash_password(password)
    assert verify_password(stored, password)
    assert not verify_password(stored, password + "x")


@pytest.mark.parametrize("stored", ["", "!", "$argon2id$", "$2b$12$abc", "\ud800", "\x00"])
def test_an_account_without_a_usable_hash_matches_nothing(
    stored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work: list[str] = []
    monkeypatch.setattr(secrets, "verify_dummy_password", work.append)
    assert not verify_password(stored, "")
    assert work == [""], "refusing took no time, which tells that there is no password"


def test_a_flood_of_sign_ins_hashes_two_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    under_way, most, lock = 0, 0, threading.Lock()
    met = threading.Barrier(2)

    class Counting:
        def hash(self, password: bytes) -> str:
            nonlocal under_way, most
            with lock:
                under_way += 1
                most = max(most, under_way)
            met.wait(timeout=60)  # passes only in pairs, so two really are let in
            with lock:
                under_way -= 1
            return "hash"

    monkeypatch.setattr(secrets, "_hasher", Counting())
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(verify_dummy_password, ["password"] * 16))
    assert most == 2


def test_who_finds_no_place_is_told_that_the_service_is_busy() -> None:
    slots = HashingSlots()
    slots.slot_count, slots.wait_seconds = 1, 0.01
    with slots.reserve(), ThreadPoolExecutor(1) as pool:
        refused = pool.submit(slots.reserve().__enter__).exception(30)
    assert isinstance(refused, ApiError)
    assert (refused.status, refused.details) == (503, {"reason": "busy"})
    assert refused.headers == {"Retry-After": "1"}
