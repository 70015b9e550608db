"""Service that creates, authenticates and revokes API keys.

The creator sees the complete key only once; the database stores only a keyed hash of the key.
"""

import hmac
import re
import secrets
import string
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from app.identity.api_keys import queries
from app.identity.api_keys.models import ApiKey
from app.identity.organizations import service as organizations
from app.identity.users import service as users
from app.kit import container, db, errors
from app.kit.errors import ApiError
from app.kit.permissions import PERMISSIONS, Role, require_role
from app.kit.principal import Caller

list_unexpired_by_creator = queries.list_unexpired_by_creator
KEY_MARKER = "dl_"
PREFIX_LENGTH = len(KEY_MARKER) + 12
SECRET_LENGTH = 43  # 43 random characters from an alphabet of 62 have 256 bits of entropy
_RANDOM_LENGTH = 12 + SECRET_LENGTH
_ALPHABET = string.ascii_letters + string.digits
_KEY_PATTERN = re.compile(rf"{KEY_MARKER}[A-Za-z0-9]{{{_RANDOM_LENGTH}}}")
_DUMMY_KEY = KEY_MARKER + "-" * _RANDOM_LENGTH
_DUMMY_HASH = "-" * 64


class KeyCreator(NamedTuple):
    """The user who created an API key."""

    id: UUID
    email: str
    name: str
    is_member: bool


class CreatedKey(NamedTuple):
    """A new API key; `key` is the complete key, which is not stored."""

    id: UUID
    name: str
    role: str
    read_only: bool
    prefix: str
    expires_at: datetime | None
    last_used_at: datetime | None
    created_at: datetime
    updated_at: datetime
    created_by: KeyCreator
    key: str


def create(
    caller: Caller,
    *,
    name: str,
    role: str,
    read_only: bool = False,
    expires_at: datetime | None = None,
) -> CreatedKey:
    """Create an API key for the caller's organization; only this result contains the complete key.

    Raises 400 `validation_error` on `role` if it is owner or above the caller's role, 400 on
    `expires_at` if it is not in the future, and 403 if the caller no longer has the permission or
    is disabled.
    """
    creator_role = organizations.lock_role(caller)
    users.check_enabled(caller.user_id)
    require_role(creator_role, PERMISSIONS["api_keys:manage"])
    if Role[role] >= Role.owner or Role[role] > creator_role:
        raise errors.invalid(
            "The role must not be owner, and must not be above your own role.", "role"
        )
    if expires_at is not None and expires_at <= db.utc_now():
        raise errors.invalid("Must be in the future.", "expires_at")
    key = KEY_MARKER + "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM_LENGTH))
    record = ApiKey(
        name=name,
        prefix=key[:PREFIX_LENGTH],
        key_hash=_hash_key(key),
        role=role,
        read_only=read_only,
        created_by=caller.user_id,
        expires_at=expires_at,
    )
    db.session().add(record)
    db.session().flush()
    values = {name: getattr(record, name) for name in CreatedKey._fields[:-2]}
    creator = KeyCreator(caller.user_id, caller.email, caller.name, is_member=True)
    return CreatedKey(**values, created_by=creator, key=key)


def revoke(key_id: UUID) -> None:
    """Revoke an API key by deleting it; the next request with the key is refused.

    Raises 404 for an unknown id.
    """
    db.session().delete(errors.require_found(queries.lock(key_id)))
    db.session().flush()


def _hash_key(key: str) -> str:
    return container.keyring().fingerprint("api_key", key)


def authenticate_key(key: str) -> Caller:
    """Verify an API key, and return the caller. Also updates the key's `last_used_at`.

    Implements `Authenticator.authenticate_api_key`. Raises 401 `invalid_api_key`. Every invalid key
    is refused after the same steps: one query, one hash and one comparison. Therefore, the response
    time does not reveal what is wrong with the key.
    """
    if _KEY_PATTERN.fullmatch(key) is None:
        key = _DUMMY_KEY
    state = queries.find_by_prefix(key[:PREFIX_LENGTH])
    is_correct = hmac.compare_digest(_hash_key(key), state.key_hash if state else _DUMMY_HASH)
    if state is None or not is_correct or state.is_unusable:
        raise ApiError("invalid_api_key", "The API key is unknown, revoked or expired.")
    if state.last_used_is_outdated:
        queries.update_last_used_at(state.organization.id, state.id)
    return Caller(
        user_id=state.user_id,
        email=state.email,
        name=state.name,
        session_id=None,
        token_id=None,
        expires_at=state.expires_at,
        organization=state.organization,
        role=Role[state.role],
        api_key_id=state.id,
        read_only=state.read_only,
    )
