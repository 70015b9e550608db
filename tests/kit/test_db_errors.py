"""Translation of PostgreSQL errors into API errors."""

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.kit import db, db_errors
from app.kit.errors import ApiError


def _answer(app: Flask, state: str) -> Exception:
    """Return the translation of an error with this SQLSTATE."""
    raised = f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END $$"
    with app.app_context():
        with pytest.raises(DBAPIError) as failure:
            db.session().execute(text(raised))
        db.session().rollback()
    return db_errors.translate(failure.value)


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("40P01", "busy"),  # deadlock_detected
        ("55P03", "busy"),  # lock_not_available
        ("57014", "busy"),  # query_canceled
        ("53300", "database"),  # too_many_connections
        ("53100", "storage_full"),
        ("57P01", "database"),  # admin_shutdown
        ("57P03", "database"),  # cannot_connect_now
        ("58030", "database"),  # io_error
        ("08006", "database"),  # connection_failure
    ],
)
def test_a_refusal_says_its_reason_and_when_to_come_back(
    app: Flask, state: str, reason: str
) -> None:
    answer = _answer(app, state)
    assert isinstance(answer, ApiError)
    assert (answer.status, answer.code) == (503, "service_unavailable")
    assert answer.details == {"reason": reason}
    assert int(answer.headers["Retry-After"]) > 0


def test_a_pool_without_a_free_connection_is_busy() -> None:
    answer = db_errors.translate(PoolTimeout("none is free"))
    assert isinstance(answer, ApiError)
    assert answer.details == {"reason": "busy"}


def test_a_fault_of_ours_is_no_refusal(app: Flask) -> None:
    assert isinstance(_answer(app, "42P01"), DBAPIError)
