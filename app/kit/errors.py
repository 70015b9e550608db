"""Error codes, and the exceptions that become error responses.

Services raise `ApiError` or use one of the functions below. No other code builds the body of an
error response. The API contract defines the codes, except the codes for errors of the HTTP server.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

RecordT = TypeVar("RecordT")

STATUS_BY_CODE: Mapping[str, int] = {
    "validation_error": 400,
    "invalid_field_type": 400,
    "schema_breaking_change": 400,
    "required_fields_missing": 400,
    "duplicate_field_name": 400,
    "invalid_credentials": 401,
    "token_expired": 401,
    "invalid_api_key": 401,
    "plan_limit_reached": 402,
    "permission_denied": 403,
    "insufficient_role": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "request_timeout": 408,
    "conflict": 409,
    "artifact_duplicate": 409,
    "schema_version_conflict": 409,
    "stale_precondition": 409,
    "payload_too_large": 413,
    "uri_too_long": 414,
    "unsupported_media_type": 415,
    "range_not_satisfiable": 416,
    "unprocessable": 422,
    "rate_limited": 429,
    "headers_too_large": 431,
    "internal_error": 500,
    "service_unavailable": 503,
}

UNAUTHORIZED = 401
CHALLENGE = "Bearer"
"""The value of the `WWW-Authenticate` header in 401 responses (RFC 9110, section 15.5.2; RFC 6750,
section 3)."""
UNAVAILABLE = 503
RETRY_AFTER = "10"
"""The default value, in seconds, of the `Retry-After` header in 503 responses."""


class ApiError(Exception):
    """An error that is reported to the client.

    `code` is a key of `STATUS_BY_CODE`. `field` is the path to the invalid field, for example
    `fields.2.type`. `details` become `error.details` in the body. `headers` are additional response
    headers.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        field: str | None = None,
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = STATUS_BY_CODE[code]
        self.message = message
        self.field = field
        self.details = dict(details) if details else None
        self.headers = dict(headers) if headers else {}
        if self.status == UNAUTHORIZED:
            self.headers.setdefault("WWW-Authenticate", CHALLENGE)
        elif self.status == UNAVAILABLE:
            self.headers.setdefault("Retry-After", RETRY_AFTER)

    def build_body(self) -> dict[str, Any]:
        """Return the body: an `error` with `code`, `message` and, if set, `field` and `details`."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.field is not None:
            error["field"] = self.field
        if self.details is not None:
            error["details"] = self.details
        return {"error": error}


def not_found() -> ApiError:
    """Return the 404 error for an unknown path or record, or a record of another organization.

    The response is the same in all cases, so it does not reveal whether the record exists.
    """
    return ApiError("not_found", "The record does not exist.")


def require_found(record: RecordT | None) -> RecordT:
    """Return `record`. Raises 404 `not_found` if it is None."""
    if record is None:
        raise not_found()
    return record


def conflict(message: str, **details: object) -> ApiError:
    """Return the 409 error for an action that conflicts with the state of a record."""
    return ApiError("conflict", message, details=details or None)


def invalid(message: str, field: str | None = None, **details: object) -> ApiError:
    """Return the 400 error for a value that is well-formed but violates a rule."""
    return ApiError("validation_error", message, field=field, details=details or None)


def unprocessable(field: str, message: str) -> ApiError:
    """Return the 422 error for a field or parameter that violates its schema.

    `field` is the path to the field or the name of the parameter.
    """
    field_errors = [{"field": field, "message": message}]
    return ApiError("unprocessable", message, field=field, details={"errors": field_errors})


def busy(message: str, *, retry_after: int) -> ApiError:
    """Return the 503 error for too much concurrent work.

    `retry_after` is the value of the `Retry-After` header in seconds.
    """
    return ApiError(
        "service_unavailable",
        message,
        details={"reason": "busy"},
        headers={"Retry-After": str(retry_after)},
    )


def denied(message: str) -> ApiError:
    """Return the 403 error for an action that is forbidden for a reason other than the role."""
    return ApiError("permission_denied", message)


def stale(current_revision: int, **details: object) -> ApiError:
    """Return the 409 error for a change that is based on an outdated revision of the record.

    `details` are additional properties that help the client repeat the change.
    """
    return ApiError(
        "stale_precondition",
        "The record has changed since it was read. Read it again and repeat the change.",
        details={"current_revision": current_revision, **details},
    )


def check_revision(revision: int | None, current_revision: int) -> None:
    """Raise 409 `stale_precondition` unless `revision` is None or the current revision."""
    if revision not in (None, current_revision):
        raise stale(current_revision)


def storage_unavailable() -> ApiError:
    """Return the 503 error for a file that cannot be read or written at the moment."""
    return ApiError("service_unavailable", "The file storage is not available. Try again shortly.")


def storage_full() -> ApiError:
    """Return the 503 error for a write that is refused because too little disk space is free."""
    return ApiError(
        "service_unavailable",
        "The service is out of storage space. New data cannot be stored until the operator frees"
        " space. Reading and labeling still work.",
        details={"reason": "storage_full"},
        headers={"Retry-After": "60"},
    )
