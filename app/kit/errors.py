"""The one table of error codes, and the one way an error becomes a response.

A service raises `ApiError` or one of the short-hands below; nothing else in the project builds an
error body. The codes are the contract's, and those of transport.
"""

from collections.abc import Mapping
from typing import Any

STATUS_OF: Mapping[str, int] = {
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
"""What every 401 asks for (RFC 9110, section 15.5.2; RFC 6750, section 3)."""
UNAVAILABLE = 503
RETRY_AFTER = "10"
"""Seconds after which a client may repeat a request that got a 503, unless the error says more."""


class ApiError(Exception):
    """An error the client caused or must know of.

    `code` is a key of `STATUS_OF`; `field` the path of the culprit (`fields.2.type`), `details`
    extra members, `headers` extra response headers.
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
        self.status = STATUS_OF[code]
        self.message = message
        self.field = field
        self.details = dict(details) if details else None
        self.headers = dict(headers) if headers else {}
        if self.status == UNAUTHORIZED:
            self.headers.setdefault("WWW-Authenticate", CHALLENGE)
        elif self.status == UNAVAILABLE:
            self.headers.setdefault("Retry-After", RETRY_AFTER)

    def body(self) -> dict[str, Any]:
        """Shape: {"error": {code, message, field?, details?}}."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.field is not None:
            error["field"] = self.field
        if self.details is not None:
            error["details"] = self.details
        return {"error": error}


def not_found() -> ApiError:
    """No such record here. Says nothing of the record: a foreign one answers the same bytes."""
    return ApiError("not_found", "There is no such record.")


def conflict(message: str, **details: Any) -> ApiError:
    """The record's state, or another record, stands against it."""
    return ApiError("conflict", message, details=details or None)


def invalid(message: str, field: str | None = None, **details: Any) -> ApiError:
    """Well-formed, but against a rule."""
    return ApiError("validation_error", message, field=field, details=details or None)


def unprocessable(field: str, message: str) -> ApiError:
    """A part of the request does not fit its declared schema; `field` is its path."""
    errors = [{"field": field, "message": message}]
    return ApiError("unprocessable", message, field=field, details={"errors": errors})


def busy(message: str, *, retry_after: int) -> ApiError:
    """Too much of this is under way; the client may repeat the request after so many seconds."""
    return ApiError(
        "service_unavailable",
        message,
        details={"reason": "busy"},
        headers={"Retry-After": str(retry_after)},
    )


def denied(message: str) -> ApiError:
    """The caller may not, whatever their role."""
    return ApiError("permission_denied", message)


def stale(current_revision: int, **details: Any) -> ApiError:
    """Somebody saved in between; the earlier write stands. `details`: what helps to repeat it."""
    return ApiError(
        "stale_precondition",
        "The record has changed since it was read. Read it again and repeat the change.",
        details={"current_revision": current_revision, **details},
    )


def storage_full() -> ApiError:
    """Return the error for what would take space that there is not."""
    return ApiError(
        "service_unavailable",
        "The service is out of storage space: nothing new can be stored until the operator frees"
        " some. Reading and labeling go on.",
        details={"reason": "storage_full"},
        headers={"Retry-After": "60"},
    )
