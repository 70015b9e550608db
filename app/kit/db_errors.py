"""Translation of database errors into API errors."""

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm.exc import StaleDataError

from app.kit.errors import ApiError, busy, conflict, storage_full

RETRY_AFTER_SECONDS = 2
"""The value of the `Retry-After` header, in seconds, while the database does not respond."""

_CONFLICTS: dict[str, tuple[str, str | None]] = {}


def register(constraint: str, message: str, field: str | None = None) -> None:
    """Register the message of the 409 error for statements that violate `constraint`."""
    _CONFLICTS[constraint] = (message, field)


def build_unavailable_error() -> ApiError:
    """Return the 503 error for a database that does not respond, or that stopped responding.

    If this happens during a commit, the changes may have been committed.
    """
    return ApiError(
        "service_unavailable",
        "The database is not responding. Try again shortly.",
        details={"reason": "database"},
        headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
    )


def build_busy_error() -> ApiError:
    """Return the 503 error for a timeout, an aborted transaction or an exhausted pool."""
    return busy("The service is busy. Try again shortly.", retry_after=1)


def translate(failure: SQLAlchemyError) -> Exception:
    """Return the ApiError for a database error, or the error itself if a bug caused it."""
    if isinstance(failure, StaleDataError):
        message = "Someone else has changed the record. Read it again and repeat the change."
        return ApiError("stale_precondition", message)
    if isinstance(failure, IntegrityError):
        return _translate_integrity_error(failure)
    if isinstance(failure, PoolTimeout):
        return build_busy_error()
    if isinstance(failure, DBAPIError):
        return _translate_temporary_failure(failure) or failure
    return failure


_DISK_FULL = "53100"
_ROLLBACK_CLASS = "40"  # the SQLSTATE class of rollbacks, such as deadlocks
_TIMEOUT_CODES = {"55P03", "57014"}  # lock_timeout, statement_timeout
# The SQLSTATE classes of connection, resource, operator intervention and system errors.
_OUTAGE_CLASSES = {"08", "53", "57", "58"}


def _translate_temporary_failure(failure: DBAPIError) -> ApiError | None:
    """Return the 503 error for a temporary database failure, or None for any other failure."""
    code = getattr(failure.orig, "pgcode", None) or ""
    if code == _DISK_FULL:
        return storage_full()
    if code[:2] == _ROLLBACK_CLASS or code in _TIMEOUT_CODES:
        return build_busy_error()
    if is_outage(failure):
        return build_unavailable_error()
    return None


def is_outage(failure: BaseException) -> bool:
    """Return whether an error means that the database is unavailable or has no resources left.

    A statement that timed out or was rolled back is not an outage, because its data or its locks
    can be the cause.
    """
    if isinstance(failure, PoolTimeout):
        return True
    if not isinstance(failure, DBAPIError):
        return False
    code = getattr(failure.orig, "pgcode", None) or ""
    if code in _TIMEOUT_CODES:
        return False
    return failure.connection_invalidated or not code or code[:2] in _OUTAGE_CLASSES


def _translate_integrity_error(failure: IntegrityError) -> Exception:
    diagnostics = getattr(failure.orig, "diag", None)
    name = getattr(diagnostics, "constraint_name", None) or ""
    code = getattr(failure.orig, "pgcode", "")
    if name in _CONFLICTS:
        message, field = _CONFLICTS[name]
        return ApiError("conflict", message, field=field)
    if code == "23505":  # unique_violation
        return conflict("Another record with these values already exists.")
    if code == "23503":  # foreign_key_violation
        return conflict(
            "A related record no longer exists, or another record refers to this record."
        )
    return failure
