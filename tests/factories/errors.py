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
