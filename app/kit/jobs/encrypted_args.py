"""Encrypted arguments of jobs, such as email addresses and tokens."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import text

from app.kit import container, db

# Queued jobs contain this key. Workers of the previous release also read it in new jobs.
KEY = "sealed"
"""The key of the encrypted value in a job's args."""
_DELETE = text(f"UPDATE jobs SET args = args - '{KEY}' WHERE id = :id")  # noqa: S608 - a constant


def encrypt(values: Mapping[str, Any]) -> dict[str, str]:
    """Return job args that contain `values` in encrypted form."""
    return {KEY: container.keyring().encrypt(orjson.dumps(values))}


def decrypt(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that `encrypt` encrypted.

    Raises DecryptionFailed if no configured key can decrypt them.
    """
    values: dict[str, Any] = orjson.loads(container.keyring().decrypt(args[KEY]))
    return values


def delete(job_id: UUID) -> None:
    """Delete the encrypted values of a job that is done, in the caller's transaction.

    Addresses and tokens are not kept longer than necessary.
    """
    db.session().execute(_DELETE, {"id": job_id})
