"""Classification of exceptions as platform faults or errors of a job.

A platform fault means that the database, the storage, Redis or the operating system is unavailable
or out of resources. The job is not the cause, so it is retried without counting an attempt.
"""

import errno

import psycopg2
from redis.exceptions import RedisError
from sqlalchemy.exc import DataError, IntegrityError, SQLAlchemyError

from app.kit.storage import StorageUnavailable

_FAULT_ERRNOS = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EIO,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOMEM,
    errno.EAGAIN,
    errno.EROFS,
}
_DATABASE_FAULTS = (psycopg2.OperationalError, psycopg2.InterfaceError)


def is_fault(error: BaseException) -> bool:
    """Return whether `error` or one of its causes is a platform fault."""
    cause: BaseException | None = error
    while cause is not None:
        if _is_direct_fault(cause):
            return True
        cause = cause.__cause__
    return False


def _is_direct_fault(error: BaseException) -> bool:
    if isinstance(error, SQLAlchemyError):
        # The values of the job, and not the platform, cause these two errors.
        return not isinstance(error, DataError | IntegrityError)
    if isinstance(error, OSError):
        return isinstance(error, ConnectionError) or error.errno in _FAULT_ERRNOS
    # COPY uses psycopg2 directly, so its errors are not wrapped. psycopg2 raises the base class
    # when the connection breaks during a COPY.
    if type(error) is psycopg2.DatabaseError:
        return True
    return isinstance(error, (StorageUnavailable, RedisError, *_DATABASE_FAULTS))
