"""Tells faults of the platform from errors of a job.

A fault says nothing about the job: the database, the storage or the queue does not answer, or has
no room. It is waited out and never uses up the job's attempts.
"""

import errno

from redis.exceptions import RedisError
from sqlalchemy.exc import DataError, IntegrityError, SQLAlchemyError

from app.kit.storage import StorageUnavailable

_NO_ROOM = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EIO,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOMEM,
    errno.EAGAIN,
    errno.EROFS,
}


def is_fault(error: BaseException) -> bool:
    """Return whether `error`, or what caused it, is a fault of the platform."""
    seen: BaseException | None = error
    while seen is not None:
        if _is_fault_itself(seen):
            return True
        seen = seen.__cause__
    return False


def _is_fault_itself(error: BaseException) -> bool:
    if isinstance(error, SQLAlchemyError):
        # These two are about the values of one job.
        return not isinstance(error, DataError | IntegrityError)
    if isinstance(error, OSError):
        return isinstance(error, ConnectionError) or error.errno in _NO_ROOM
    return isinstance(error, StorageUnavailable | RedisError)
