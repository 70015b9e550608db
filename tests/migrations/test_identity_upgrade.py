"""Upgrade a database of the previous release: its members, invitations and API keys."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from tests.migrations.conftest import Migrating

REVISION = "202611230705"
_FILLED = {
    "uuid": "gen_random_uuid()",
    "character varying": "gen_random_uuid()::text",
    "text": "gen_random_uuid()::text",
    "timestamp with time zone": "now()",
    "integer": "1",
    "boolean": "false",
    "jsonb": "'{}'::jsonb",
}


class Rows:
    """Writes rows with what a test says of them; the other required columns get some value."""

    def __init__(self, migrating: Migrating) -> None:
        self.migrating = migrating

    def add(self, table: str, **values: Any) -> Any:
        required = self.migrating.rows(
            "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = %s"
            " AND is_nullable = 'NO' AND column_default IS NULL",
            [table],
        )
        missing = {name: _FILLED[kind] for name, kind in required if name not in values}
        names = ", ".join([*values, *missing])
        slots = ", ".join(["%s"] * len(values) + list(missing.values()))
        (row,) = self.migrating.rows(
            f"INSERT INTO {table} ({names}) VALUES ({slots}) RETURNING {table}.*",
            list(values.values()),
        )
        columns = self.migrating.rows(
            "SELECT column_name FROM information_schema.columns WHERE table_name = %s"
            " ORDER BY ordinal_position",
            [table],
        )
        return dict(zip((name for (name,) in columns), row, strict=True))

    def user(self, **values: Any) -> Any:
        return self.add("users", **values)["id"]


@pytest.fixture
def rows(migrating: Migrating) -> Rows:
    return Rows(migrating)


def test_the_upgrade_raises_nobody(migrating: Migrating, rows: Rows) -> None:
    org = rows.add("organizations", status="active")["id"]
    now = datetime(2026, 1, 1, tzinfo=UTC)
    admin, viewer, off = rows.user(), rows.user(), rows.user(disabled_at=now)
    for user, role in ((admin, "admin"), (viewer, "viewer"), (off, "owner")):
        rows.add("memberships", organization_id=org, user_id=user, role=role)
    keys = {
        name: rows.add("api_keys", organization_id=org, name=name, role=role, created_by=user)["id"]
        for name, role, user in (
            ("kept", "reviewer", admin),
            ("lowered", "admin", viewer),
            ("ended", "viewer", off),
        )
    }
    gone, dropped, mixed = rows.user(), rows.user(), rows.user()
    for user, dropped_at in (
        (admin, None),
        (gone, None),
        (dropped, now),
        (mixed, None),
        (mixed, now),
    ):
        rows.add("sso_identities", organization_id=org, user_id=user, dropped_at=dropped_at)
    inviters = ((admin, "admin"), (admin, "owner"), (viewer, "viewer"), (off, "viewer"))
    invitations = [
        rows.add("invitations", organization_id=org, invited_by=user, role=role)["id"]
        for user, role in (*inviters, (gone, "viewer"), (None, "viewer"))
    ]
    migrating.run("upgrade", "head")
    found = migrating.rows("SELECT id, role, expires_at <= now() FROM api_keys")
    assert {key: (role, bool(over)) for key, role, over in found} == {
        keys["kept"]: ("reviewer", False),
        keys["lowered"]: ("viewer", False),
        keys["ended"]: ("viewer", True),
    }
    assert migrating.rows("SELECT user_id FROM removed_members") == [(gone,)]
    still_open = migrating.rows("SELECT id FROM invitations WHERE revoked_at IS NULL")
    assert still_open == [(invitations[0],)]
    assert migrating.invalid() == []


def test_every_way_to_own_begins_a_term(migrating: Migrating, rows: Rows) -> None:
    """Instances of the release before do not know the column."""
    org, user = rows.add("organizations")["id"], rows.user()
    old = rows.user()
    rows.add("memberships", organization_id=org, user_id=old, role="owner")
    migrating.run("upgrade", "head")

    def term(user_id: UUID) -> Any:
        return migrating.rows("SELECT ownership_id FROM memberships WHERE user_id = %s", [user_id])

    assert term(old) == [(None,)]
    rows.add("memberships", organization_id=org, user_id=user, role="owner")
    terms = [term(user)]
    for role in ("admin", "owner", "owner"):
        migrating.rows("UPDATE memberships SET role = %s WHERE user_id = %s", [role, user])
        terms.append(term(user))
    assert terms[1] == [(None,)]
    assert terms[0] != terms[2]
    assert terms[2] == terms[3]
    assert None not in terms[2][0]
