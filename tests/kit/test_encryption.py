"""Re-encryption of all tokens with the first key, in batches that can be repeated."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cryptography.fernet import Fernet
from flask import Flask
from sqlalchemy import event, select, text, update

from app.delivery.notifications.service import mailing
from app.delivery.webhooks.models import Webhook
from app.kit import container, db, encryption, tenancy
from app.kit.encryption import TokenCounts
from app.kit.jobs import JobRow
from app.kit.secrets import DecryptionFailed, Keyring
from tests.factories import Org
from tests.factories.tokens import find_undeclared_columns

DECLARED = {
    *("webhooks.secret", "webhooks.previous_secret", "organizations.ai_provider_key"),
    *("sso_configurations.client_secret", "sso_flows.code_verifier", "jobs.args.sealed"),
    "idempotency_keys.response",
}
AddKey = Callable[[], Keyring]


@pytest.fixture
def add_key(app: Flask) -> Iterator[AddKey]:
    """Return a function that puts a new key first, and returns a keyring with the old key."""
    holder = container.current()
    settings = holder.settings
    old = holder.keyring
    keys = [Fernet.generate_key().decode(), *settings.encryption_keys]

    def add() -> Keyring:
        vars(holder)["keyring"] = Keyring(settings.secret_key, keys)
        return old

    yield add
    # Re-encrypt with the old key, so that other tests can decrypt the tokens.
    vars(holder)["keyring"] = Keyring(settings.secret_key, [*keys[1:], keys[0]])
    with app.app_context():
        encryption.rotate_tokens()
    vars(holder)["keyring"] = old


def hooks(org: Org, number: int) -> None:
    keyring = container.keyring()
    with org.transaction() as session:
        for n in range(number):
            secret = keyring.encrypt(f"secret-{n}")
            session.add(
                Webhook(url="https://example.com/", events=["export.completed"], secret=secret)
            )


def secrets(org: Org) -> list[str]:
    with org.app.app_context(), tenancy.organization(org.id):
        return list(db.session().scalars(select(Webhook.secret).order_by(Webhook.id)))


def readable(tokens: list[str], keyring: Keyring) -> int:
    count = 0
    for token in tokens:
        try:
            keyring.decrypt(token)
        except DecryptionFailed:
            continue
        count += 1
    return count


def counts(app: Flask, **options: Any) -> dict[str, TokenCounts]:
    with app.app_context():
        return {count.place: count for count in encryption.rotate_tokens(**options)}


@pytest.mark.usefixtures("app")
def test_what_is_declared() -> None:
    assert {place.name for place in encryption.list_columns()} >= DECLARED


def test_everything_comes_under_the_first_key(org: Org, app: Flask, add_key: AddKey) -> None:
    hooks(org, 3)
    values = {"organization": "o", "title": "t", "body": "b", "link": None}
    with app.app_context(), db.transaction():
        mailing.emails.enqueue(
            "notification", to="a@b.c", locale="en", values=values, message_id="rotated"
        )
    old = add_key()
    before = secrets(org)
    assert readable(before, old) == 3
    token_counts = counts(app)
    assert token_counts["webhooks.secret"].rotated >= 3
    assert token_counts["jobs.args.sealed"].rotated >= 1
    assert readable(secrets(org), old) == 0
    assert readable(secrets(org), container.keyring()) == 3
    with app.app_context(), tenancy.across_organizations(reason="a test looks at jobs"):
        args = db.session().scalars(
            select(JobRow.args).where(JobRow.args["message_id"].astext == "rotated")
        )
        (job_args,) = args
    assert set(job_args) == {"folder", "name", "message_id", "sealed"}
    assert b"a@b.c" in container.keyring().decrypt(job_args["sealed"])
    again = counts(app)
    assert sum(count.rotated for count in again.values()) == 0
    assert again["webhooks.secret"].tokens == token_counts["webhooks.secret"].tokens


def test_counting_alone_writes_nothing(org: Org, app: Flask, add_key: AddKey) -> None:
    hooks(org, 2)
    old = add_key()
    before = secrets(org)
    assert counts(app, write=False)["webhooks.secret"].rotated >= 2
    assert secrets(org) == before
    assert readable(before, old) == 2


def test_it_can_be_broken_off_and_goes_on(
    org: Org, app: Flask, add_key: AddKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encryption, "BATCH_SIZE", 2)
    hooks(org, 7)
    old = add_key()
    seen = []

    def stop(done: int, total: int) -> None:
        seen.append((done, total))
        if readable(secrets(org), old) < 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), app.app_context():
        encryption.rotate_tokens(progress=stop)
    assert seen == sorted(seen)
    assert all(done <= total for done, total in seen)
    old_key_tokens = readable(secrets(org), old)
    assert 0 < old_key_tokens < 5
    counts(app)
    assert readable(secrets(org), old) == 0


def test_a_token_that_was_replaced_meanwhile_stays(org: Org, app: Flask, add_key: AddKey) -> None:
    hooks(org, 1)
    add_key()
    fresh = container.keyring().encrypt("rotated by its owner")

    def replace(conn: Any, cursor: Any, statement: str, *_: Any) -> None:
        if "UPDATE webhooks SET secret" in statement and not replaced:
            replaced.append(True)
            with org.transaction() as session:
                session.execute(update(Webhook).values(secret=fresh))

    replaced: list[bool] = []
    with app.app_context():
        event.listen(db.engine(), "before_cursor_execute", replace)
        try:
            encryption.rotate_tokens()
        finally:
            event.remove(db.engine(), "before_cursor_execute", replace)
    assert secrets(org) == [fresh]


def test_what_no_key_reads_is_counted_and_left(org: Org, app: Flask) -> None:
    foreign = Fernet(Fernet.generate_key()).encrypt(b"x").decode()
    with org.transaction() as session:
        session.add(Webhook(url="https://example.com/", events=[], secret=foreign))
        session.add(Webhook(url="https://example.com/", events=[], secret="ключ"))
    token_counts = counts(app)["webhooks.secret"]
    assert token_counts.unreadable >= 2
    assert secrets(org) == [foreign, "ключ"]


def test_a_column_of_tokens_that_is_not_declared_is_noticed(app: Flask) -> None:
    token = container.keyring().encrypt("x" * 40)
    with app.app_context():
        assert find_undeclared_columns("schedule_runs") == []
        with db.transaction() as session:
            insert = text("INSERT INTO schedule_runs (name, due_at) VALUES (:t, now())")
            session.execute(insert, {"t": f"x {token}"})
        assert find_undeclared_columns("schedule_runs") == ["schedule_runs.name"]
        with db.transaction() as session:
            delete = text("DELETE FROM schedule_runs WHERE name = :t")
            session.execute(delete, {"t": f"x {token}"})
