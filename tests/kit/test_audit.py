"""The actor that is sent to PostgreSQL for the audit log."""

from typing import Any
from uuid import uuid4

import pytest
from flask import Flask
from sqlalchemy import text

from app.kit import audit, db
from app.kit.audit_context import current_context
from tests.factories.queueing import call_in_thread


def _read_actor_setting() -> Any:
    return db.session().scalar(
        text("SELECT CAST(nullif(current_setting('app.actor', true), '') AS jsonb)")
    )


@pytest.mark.parametrize(
    ("operation", "records", "expected"),
    [
        ("accept_tag_set", "tag_sets", ("accept", "tag_sets")),
        ("create_tag_set", "artifacts", ("create", "tag_sets")),
        ("replace_tags", "tag_sets", ("replace", "tag_sets")),
        ("bulk_delete_artifacts", "artifacts", ("delete", "artifacts")),
        ("bulk_accept_reviews", "tag_sets", ("accept", "tag_sets")),
        ("remove_member", "organizations", ("remove", "members")),
        ("create_api_key", "organizations", ("create", "api_keys")),
        ("logout", "sessions", ("logout", "sessions")),
        ("exports.run", None, ("run", "exports")),
    ],
)
def test_an_operations_name_tells_the_action(
    app: Flask, operation: str, records: str | None, expected: tuple[str, str]
) -> None:
    assert audit.split_operation(operation, records) == expected


@pytest.mark.parametrize(
    "label",
    ["O'Brien", "100% %(x)s %s", "a\\'; DROP TABLE users; --", 'quo"ted', "né :name", "x" * 5000],
)
def test_any_label_arrives_as_it_is(app: Flask, label: str) -> None:
    actor = uuid4()
    with app.app_context(), audit.bind_actor("user", actor, label, operation="create_webhook"):
        actor_setting = _read_actor_setting()
        assert (actor_setting["kind"], actor_setting["id"]) == ("user", str(actor))
        assert actor_setting["label"] == label[:320]
        # With parameters, the driver searches for placeholders in the whole SQL text.
        assert db.session().scalar(text("SELECT CAST(:n AS int)"), {"n": 7}) == 7
        db.session().rollback()


def test_what_postgresql_cannot_hold_is_left_out(app: Flask) -> None:
    with app.app_context(), audit.bind_actor("user", None, "a\x00b\ud800c", operation="x"):
        assert _read_actor_setting()["label"] == "ab?c"
        db.session().rollback()


def test_a_transaction_hears_of_a_new_actor_at_once(app: Flask) -> None:
    with app.app_context():
        with audit.bind_actor("system", None, "job", operation="exports.run", request_id="r-1"):
            assert _read_actor_setting()["label"] == "job"
            audit.set_actor("user", None, "somebody")
            actor_setting = _read_actor_setting()
            assert (actor_setting["kind"], actor_setting["label"]) == ("user", "somebody")
            assert (actor_setting["operation"], actor_setting["request_id"]) == (
                "exports.run",
                "r-1",
            )
        assert _read_actor_setting() is None
        db.session().rollback()


def test_no_actor_stays_with_a_connection(app: Flask) -> None:
    for _ in range(20):
        with app.app_context(), audit.bind_actor("user", None, "one", operation="x"):
            assert _read_actor_setting()["label"] == "one"
            db.session().commit()
        with app.app_context():
            assert _read_actor_setting() is None
            db.session().rollback()


def test_threads_do_not_share_an_actor() -> None:
    with audit.bind_actor("user", None, "one", operation="x"):
        assert call_in_thread(current_context.get) is None


def test_set_actor_works_without_an_operation() -> None:
    try:
        audit.set_actor("control_plane", None, "operator")
        context = current_context.get()
        assert context is not None
        assert (context.kind, context.operation) == ("control_plane", None)
    finally:
        audit.unbind_operation()
    assert current_context.get() is None
