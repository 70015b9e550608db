"""Guarantees of the database: append-only, isolated by tenant, complete, without secrets."""

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from app.kit import db, tenancy
from migrations.auditing import _SECRET_COLUMN
from tests.factories import Api, Org
from tests.factories.orgs import PASSWORD, _password_hash
from tests.identity.audit.conftest import HOOK, Owner

TABLES = ("audit_entries", "audit_unsealed", "audit_blocks", "audit_heads")


@pytest.mark.parametrize("table", [*TABLES, "audit_watches"])
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM {}",
        "TRUNCATE {}",
        "INSERT INTO {} DEFAULT VALUES",
        "ALTER TABLE {} DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE {} DISABLE TRIGGER ALL",
        "DROP TABLE {}",
    ],
)
def test_the_application_can_only_read(org: Org, table: str, statement: str) -> None:
    with org.app.app_context(), tenancy.across_organizations(reason="a test tries"):
        with pytest.raises(ProgrammingError, match=r"permission denied|must be owner"):
            db.session().execute(text(statement.format(table)))
        db.session().rollback()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_entries SET actor_label = 'x'",
        "UPDATE audit_heads SET entries = 0",
        "UPDATE audit_blocks SET hash = ''",
        "UPDATE audit_unsealed SET entries = '{}'",
        "ALTER TABLE webhooks DISABLE TRIGGER audit_insert",
        "DROP TRIGGER audit_update ON webhooks",
        "DROP FUNCTION audit_webhooks() CASCADE",
        "ALTER FUNCTION audit_shown(text) OWNER TO CURRENT_USER",
        "SET session_replication_role = replica",
    ],
)
def test_the_application_cannot_bypass_the_triggers(org: Org, statement: str) -> None:
    with org.app.app_context(), tenancy.across_organizations(reason="a test tries"):
        with pytest.raises(ProgrammingError, match=r"permission denied|must be owner"):
            db.session().execute(text(statement))
        db.session().rollback()


def test_postgresql_shows_the_bound_organization_only(org: Org, other_org: Org) -> None:
    sql = text("SELECT DISTINCT organization_id FROM audit_entries")
    with org.app.app_context():
        assert db.session().scalars(sql).all() == []
        with tenancy.organization(org.id):
            assert db.session().scalars(sql).all() == [org.id]
        with tenancy.across_organizations(reason="a test looks"):
            assert {org.id, other_org.id} <= set(db.session().scalars(sql))
        db.session().rollback()


def test_every_column_of_audited_tables_is_recorded(app: Flask, owner_sql: Owner) -> None:
    """The audit functions know every current column, whichever migration added it."""
    watched = owner_sql("SELECT table_name, ignored FROM audit_watches")
    assert {"organizations", "memberships", "users", "webhooks"} <= {w.table_name for w in watched}
    for watch in watched:
        (function,) = owner_sql(
            "SELECT prosrc FROM pg_proc WHERE proname = %s", f"audit_{watch.table_name}"
        )
        columns = owner_sql(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
            " AND NOT attisdropped AND attgenerated = ''",
            watch.table_name,
        )
        known = {"id", "organization_id", "created_at", "updated_at", "revision", *watch.ignored}
        for (column,) in columns:
            assert column in known or f"'\"{column}\": ['" in function.prosrc, (watch, column)
        triggers = owner_sql(
            "SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND tgname LIKE 'audit_%%'"
            " AND tgenabled = 'O'",
            watch.table_name,
        )
        assert {t.tgname for t in triggers} == {"audit_insert", "audit_update", "audit_delete"}


def test_types_of_records_agree_with_the_models(app: Flask, owner_sql: Owner) -> None:
    for watch in owner_sql("SELECT table_name, kind FROM audit_watches"):
        table = db.Base.metadata.tables[watch.table_name]
        assert table.info.get("audited_as", table.name) == watch.kind


@pytest.mark.parametrize(
    "name",
    ["password_hash", "key_hash", "secret", "previous_secret", "client_secret", "token",
     "token_hash", "api_key", "private_key", "credentials"],
)  # fmt: skip
def test_columns_with_secret_names_are_always_hidden(name: str) -> None:
    assert _SECRET_COLUMN.search(name)


@pytest.mark.parametrize("name", ["token_version", "sha256", "sort_key", "secretary", "keys"])
def test_columns_with_other_names_are_not_hidden(name: str) -> None:
    assert not _SECRET_COLUMN.search(name)


def test_the_log_contains_no_secrets(org: Org, owner_sql: Owner) -> None:
    owner, email = org.api("owner"), org.email("owner")
    hook = owner.post("/webhooks", json=HOOK).json["data"]
    rotated = owner.post(f"/webhooks/{hook['id']}/rotate-secret").json
    body = {"name": "Nightly", "role": "admin"}
    key = owner.post(f"/organizations/{org.slug}/api-keys", json=body).json["data"]["key"]
    login = org.anonymous().post("/auth/login", {"email": email, "password": PASSWORD})
    new = "another-long-enough-one"
    changed = Api(org.app.test_client(), login.json["data"]["access_token"], None).post(
        "/auth/password/change", {"current_password": PASSWORD, "new_password": new}
    )
    secrets_by_name = {
        "webhook": hook["secret"],
        "rotated": rotated["data"]["secret"],
        "api key": key,
        "its tail": key[-20:],
        "token": login.json["data"]["access_token"],
        "password": PASSWORD,
        "new password": new,
        "hash": _password_hash(),
    }
    assert changed.status_code < 300, changed.json
    owner_sql("SET app.all_organizations = 'on'")
    stored = owner_sql("SELECT secret FROM webhooks WHERE id = %s", hook["id"])
    secrets_by_name["encrypted"] = stored[0].secret
    hashes = owner_sql("SELECT password_hash FROM users WHERE id = %s", org.users["owner"])
    secrets_by_name["hash now"] = hashes[0].password_hash
    (whole,) = owner_sql("SELECT string_agg(e::text, ' ') AS log FROM audit_entries e")
    assert hook["id"] in whole.log
    for what, secret in secrets_by_name.items():
        assert secret not in whole.log, what


def test_json_members_with_secret_names_are_hidden(org: Org, owner_sql: Owner) -> None:
    owner_sql(
        "UPDATE organizations SET settings = %s WHERE id = %s",
        '{"ai_provider": {"api_key": "sk-\\"12345", "model": "m", "private_key": "pem"},'
        ' "list": [{"client_secret": "hush"}], "note": "no secret: \\"api_key\\"",'
        ' "credentials": {"user": "ann", "pass": "hunter2"}, "apiKey": "k", "tokens": ["t"],'
        ' "max_tokens": 9,'
        ' "refresh_token": ["a", "b"], "access_token": null, "api_key_set": true,'
        ' "password_hash": "argon", "deep": ' + "[" * 300 + '{"token": "x"}' + "]" * 300 + "}",
        org.id,
    )
    (entry,) = owner_sql(
        "SELECT changes FROM audit_entries WHERE target_id = %s ORDER BY id DESC LIMIT 1", org.id
    )
    hidden = {"secret": True}
    new_settings = entry.changes["settings"][1]
    assert "token" not in str(new_settings.pop("deep"))
    assert new_settings == {
        "ai_provider": {"api_key": hidden, "model": "m", "private_key": hidden},
        "list": [{"client_secret": hidden}],
        "note": 'no secret: "api_key"',
        "credentials": hidden,
        "apiKey": hidden,
        "tokens": hidden,
        "max_tokens": 9,
        "refresh_token": hidden,
        "access_token": None,
        "api_key_set": True,
        "password_hash": hidden,
    }
