"""The migration that gives every account its key, on a database that has accounts already."""

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import create_engine, text

from app.identity.users import queries
from app.kit import db
from app.kit.ids import uuid7
from devserver.postgres import EmbeddedPostgres
from tests.factories import Org

BEFORE, AFTER = "202611211000", "202611211010"


@pytest.fixture
def migrate(
    postgres: EmbeddedPostgres, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], str]]:
    name = f"old_{uuid7().hex}"
    url = postgres.create_database(name)
    for variable, value in {**environ, "DATABASE_URL": url}.items():
        monkeypatch.setenv(variable, value)

    def to(revision: str) -> str:
        db.upgrade(revision)
        return url.replace("postgresql://", "postgresql+psycopg2://", 1)

    yield to
    postgres.drop_database(name)


def test_of_two_look_alikes_the_older_keeps_the_key(migrate: Callable[[str], str]) -> None:
    engine = create_engine(migrate(BEFORE))
    people = ["nora@old.example", "n\u043era@old.example", "zo\xe9@old.example"]
    with engine.begin() as connection:
        for day, email in enumerate(people, start=1):
            connection.execute(
                text(
                    "INSERT INTO users (id, email, name, locale, time_zone, token_version,"
                    " created_at, updated_at, revision)"
                    " VALUES (:id, :email, 'x', 'en', 'UTC', 1, :at, :at, 1)"
                ),
                {"id": uuid7(), "email": email, "at": f"2026-01-0{day}T00:00:00Z"},
            )
    migrate(AFTER)
    with engine.begin() as connection:
        rows = connection.execute(text("SELECT email_key FROM users ORDER BY created_at"))
        assert rows.scalars().all() == ["nora@old.example", None, "zo\xe9@old.example"]
    engine.dispose()


def test_an_account_without_a_key_is_found_by_its_exact_address(org: Org) -> None:
    known = org.email("owner")
    twin = known.replace("e", "\u0435")
    with org.app.app_context(), db.transaction() as session:
        move = "UPDATE users SET email = :email, email_key = NULL WHERE id = :id"
        session.execute(text(move), {"email": twin, "id": org.users["viewer"]})
    with org.app.app_context():
        users = {email: queries.find_by_email(email) for email in (known, twin, twin.upper())}
    assert {email: user and user.id for email, user in users.items()} == {
        known: org.users["owner"],
        twin: org.users["viewer"],
        twin.upper(): org.users["viewer"],
    }
