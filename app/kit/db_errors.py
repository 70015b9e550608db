"""What PostgreSQL refuses, in the contract's words."""

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm.exc import StaleDataError

from app.kit.errors import ApiError, conflict, storage_full

_CONFLICTS: dict[str, tuple[str, str | None]] = {}


def register(constraint: str, message: str, field: str | None = None) -> None:
    """Say what a violation of `constraint` means to a client: a 409 with this message."""
    _CONFLICTS[constraint] = (message, field)


def unavailable() -> ApiError:
    """The database cannot answer now; the request changed nothing."""
    return ApiError(
        "service_unavailable",
        "The service is busy. Try again shortly.",
        headers={"Retry-After": "1"},
    )


def translate(failure: SQLAlchemyError) -> Exception:
    """The ApiError for a database error, or the error itself when it is a fault of ours."""
    if isinstance(failure, StaleDataError):
        return ApiError("stale_precondition", "The record was changed by someone else meanwhile.")
    if isinstance(failure, IntegrityError):
        return _integrity(failure)
    if isinstance(failure, PoolTimeout):
        return unavailable()
    if isinstance(failure, DBAPIError):
        code = getattr(failure.orig, "pgcode", None) or ""
        if code == _DISK_FULL:
            return storage_full()
        # 40: rolled back (deadlock); 53, 57, 58, 08: no resources, shut down, no connection.
        if failure.connection_invalidated or code in ("55P03",) or code[:2] in _BUSY or not code:
            return unavailable()
    return failure


_DISK_FULL = "53100"
_BUSY = {"08", "40", "53", "57", "58"}


def _integrity(failure: IntegrityError) -> Exception:
    diagnostics = getattr(failure.orig, "diag", None)
    name = getattr(diagnostics, "constraint_name", None) or ""
    code = getattr(failure.orig, "pgcode", "")
    if name in _CONFLICTS:
        message, field = _CONFLICTS[name]
        return ApiError("conflict", message, field=field)
    if code == "23505":
        return conflict("Another record of these values exists.")
    if code == "23503":
        return conflict("A record that this one needs is gone, or others still need this one.")
    return failure
