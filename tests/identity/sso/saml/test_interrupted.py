"""Sign-ins that are interrupted between the provider's response and the session."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.identity.sso import callbacks, service
from app.kit import db, tenancy
from devserver.postgres import EmbeddedPostgres
from tests.factories.errors import check_error
from tests.factories.orgs import get_data
from tests.factories.sessions import terminate_backend
from tests.identity.sso.conftest import Browser
from tests.identity.sso.saml.conftest import Forger, Form, count_rows

STEPS = pytest.mark.parametrize("step", ["before", "behind"])


Cut = Callable[[pytest.MonkeyPatch, Any, str, str], None]


@pytest.fixture
def cut(postgres: EmbeddedPostgres) -> Cut:
    """Lose the connection before a step of the sign-in, or after it and before the commit."""

    def lose_connection() -> None:
        """Close the request's connection to PostgreSQL, as the end of the process would."""
        pid = db.session().execute(text("SELECT pg_backend_pid()")).scalar_one()
        terminate_backend(postgres.url, pid)

    def patch_step(patch: pytest.MonkeyPatch, module: Any, name: str, step: str) -> None:
        act = getattr(module, name)

        def run_interrupted(*arguments: Any, **named: Any) -> Any:
            if step == "before":
                lose_connection()
            result = act(*arguments, **named)
            lose_connection()
            return result

        patch.setattr(module, name, run_interrupted)

    return patch_step


def count_sessions(forger: Forger) -> int:
    """Count the sessions of the person who signs in."""
    statement = (
        "SELECT count(*) FROM sessions JOIN users ON users.id = sessions.user_id"
        " WHERE users.email = :email"
    )
    values = {"email": f"{forger.subject}@people.example"}
    with forger.org.app.app_context(), tenancy.across_organizations(reason="tests count"):
        return int(db.session().execute(text(statement), values).scalar_one())


def build_form(forger: Forger, browser: Browser) -> Form:
    forge, relay_state = forger.build_forge(browser.start(forger.org))
    return forger.form(forge.make(), relay_state)


def get_code(forger: Forger, browser: Browser) -> str:
    return str(get_data(browser.post_form(forger.org, build_form(forger, browser)))["code"])


def check_interrupted(answer: TestResponse) -> None:
    assert (answer.status_code, answer.json["error"]["code"]) == (503, "service_unavailable")
    assert answer.headers["Retry-After"]


@STEPS
def test_an_interrupted_response_only_uses_the_flow_up(
    forger: Forger, browser: Browser, monkeypatch: pytest.MonkeyPatch, cut: Cut, step: str
) -> None:
    before = count_rows(forger.org)
    form = build_form(forger, browser)
    with monkeypatch.context() as patch:
        cut(patch, callbacks.sign_in, "sign_in", step)
        check_interrupted(browser.post_form(forger.org, form))
    # The assertion is not recorded either: it is recorded in the same transaction.
    assert count_rows(forger.org) == before
    check_error(browser.post_form(forger.org, form), 400, "validation_error", field="RelayState")
    assert count_rows(forger.org) == before
    assert browser.exchange(get_code(forger, browser)).status_code == 200
    assert count_rows(forger.org) == {name: count + 1 for name, count in before.items()}
    assert count_sessions(forger) == 1


@STEPS
def test_an_interrupted_exchange_uses_the_code_up(
    forger: Forger, browser: Browser, monkeypatch: pytest.MonkeyPatch, cut: Cut, step: str
) -> None:
    code = get_code(forger, browser)
    with monkeypatch.context() as patch:
        cut(patch, service.auth, "open_session", step)
        check_interrupted(browser.exchange(code))
    assert count_sessions(forger) == 0
    # Nobody else who saw the code can use it either.
    check_error(browser.exchange(code), 401, "invalid_credentials")
    assert count_sessions(forger) == 0
    assert browser.exchange(get_code(forger, browser)).status_code == 200
    assert count_sessions(forger) == 1


def test_a_wrong_proof_uses_the_code_up(
    forger: Forger, browser: Browser, other_browser: Browser
) -> None:
    """The use is committed although the exchange fails: a stolen code can be tried only once."""
    code = get_code(forger, browser)
    assert other_browser.exchange(code).status_code == 401
    assert browser.exchange(code).status_code == 401
    assert count_sessions(forger) == 0
