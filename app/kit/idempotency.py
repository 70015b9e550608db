"""Support for the `Idempotency-Key` header: a repeated request gets the first response again.

Keys expire after 24 hours. A request inserts its key in the transaction of its changes. A second
request with the same key waits on the unique index until this transaction ends. If it committed,
the second request gets the stored response; a failed request stores nothing. The response is stored
encrypted, without secrets that are shown only once. The body of the request is stored only as a
keyed hash, because it can contain a password.
"""

import hashlib
import hmac
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import orjson
from flask import Response, request
from sqlalchemy import LargeBinary, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import container, db, errors
from app.kit.encryption import build_encryption_info
from app.kit.errors import ApiError

RETENTION = timedelta(hours=24)
HEADER = "Idempotency-Key"
MAX_LENGTH = 255
PATTERN = "^[!-~]([ -~]*[!-~])?$"
"""The pattern of a key: printable ASCII that neither begins nor ends with a space. HTTP removes
spaces around the value of a header."""


class IdempotencyKey(db.Base):
    """An idempotency key that a caller has used, and the response to the request.

    `scope` is a hash of the caller, the operation and the key. This is not a tenant table.
    """

    __tablename__ = "idempotency_keys"

    scope: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    request_hash: Mapped[bytes] = mapped_column(LargeBinary)
    status: Mapped[int | None]
    response: Mapped[str | None] = mapped_column(info=build_encryption_info())
    created_at: Mapped[datetime] = mapped_column(server_default=func.now(), index=True)


def get_key() -> str | None:
    """Return the idempotency key of the request, or None if it has none.

    Raises 422 if the key is empty, too long or not printable ASCII.
    """
    key = request.headers.get(HEADER)
    if key is None:
        return None
    if not (0 < len(key) <= MAX_LENGTH and key.isascii() and key.isprintable()):
        message = f"Must be 1 to {MAX_LENGTH} printable ASCII characters."
        raise errors.unprocessable(HEADER, message)
    return key


def run(
    key: str,
    *,
    owner: str,
    operation: str,
    body: bytes,
    perform: Callable[[], Response],
    secret_fields: Collection[str] = (),
) -> Response:
    """Return the stored response for `key`, or call `perform` and store its response.

    Only the same `owner` gets the stored response, for the same `operation`. `secret_fields` are
    fields in the `data` of the response that are not stored, and are null in a replayed response.
    Raises 409 if the key was used with a different body.
    """
    scope = hashlib.sha256(f"{owner}\x00{operation}\x00{key}".encode()).digest()
    body_key = container.keyring().derive_key("idempotency body")
    request_hash = hmac.digest(body_key, body, "sha256")
    session = db.session()
    session.execute(
        delete(IdempotencyKey).where(
            IdempotencyKey.scope == scope,
            IdempotencyKey.created_at < func.now() - RETENTION,
        )
    )
    # A key that expires during the request may be purged between the two statements.
    while not _insert_key(scope, request_hash):
        stored_response = _find_stored_response(scope)
        if stored_response is not None:
            # Instances of the previous release store hashes without a key.
            return _replay(stored_response, {request_hash, hashlib.sha256(body).digest()})
    response = perform()
    session.execute(
        update(IdempotencyKey)
        .where(IdempotencyKey.scope == scope)
        .values(status=response.status_code, response=_encrypt_response(response, secret_fields))
    )
    return response


def _encrypt_response(response: Response, secret_fields: Collection[str]) -> str:
    stored_headers = ("ETag", "Content-Type")
    headers = {name: text for name, text in response.headers.items() if name in stored_headers}
    body = response.get_data(as_text=True)
    if secret_fields:
        payload = orjson.loads(body)
        payload["data"] |= dict.fromkeys(secret_fields)
        body = orjson.dumps(payload).decode()
    return container.keyring().encrypt(orjson.dumps([headers, body]))


def _insert_key(scope: bytes, request_hash: bytes) -> bool:
    statement = (
        insert(IdempotencyKey)
        .values(scope=scope, request_hash=request_hash)
        .on_conflict_do_nothing()
        .returning(IdempotencyKey.scope)
    )
    return db.session().execute(statement).first() is not None


class _StoredResponse(NamedTuple):
    """The encrypted response to the first request with an idempotency key."""

    request_hash: bytes
    status: int | None
    response: str | None


def _find_stored_response(scope: bytes) -> _StoredResponse | None:
    columns = db.build_columns(_StoredResponse._fields, IdempotencyKey)
    return db.find_row(_StoredResponse, select(*columns).where(IdempotencyKey.scope == scope))


def _replay(stored_response: _StoredResponse, request_hashes: Collection[bytes]) -> Response:
    if bytes(stored_response.request_hash) not in request_hashes:
        message = "This idempotency key was used with a different request body. Use a new key."
        raise ApiError("conflict", message, field=HEADER)
    headers, body = orjson.loads(container.keyring().decrypt(stored_response.response or ""))
    return Response(
        body, stored_response.status, headers={**headers, "Idempotency-Replayed": "true"}
    )


def build_owner(caller_id: UUID | None, organization_id: UUID | None) -> str:
    """Return the string that identifies a caller in an organization as the owner of a key."""
    return f"{caller_id}/{organization_id}"
