"""Check error responses."""

from typing import Any


def check_error(response: Any, status: int, code: str, **members: Any) -> dict[str, Any]:
    """Assert that a response is an error with this status, code and `members`; return the error."""
    assert response.status_code == status, response.json
    error: dict[str, Any] = response.json["error"]
    assert error["code"] == code, error
    for name, value in members.items():
        assert error.get(name) == value, error
    return error


def check_invalid_field(response: Any, field: str) -> dict[str, Any]:
    """Assert that a response is the validation error 400 of this field; return the error."""
    return check_error(response, 400, "validation_error", field=field)


def check_conflict(response: Any, **details: Any) -> dict[str, Any]:
    """Assert that a response is a conflict with exactly `details`, if any; return the error."""
    members = {"details": details} if details else {}
    return check_error(response, 409, "conflict", **members)


def check_stale(response: Any, current_revision: int) -> dict[str, Any]:
    """Assert that a response is the conflict of a request with an outdated revision."""
    details = {"current_revision": current_revision}
    return check_error(response, 409, "stale_precondition", details=details)
