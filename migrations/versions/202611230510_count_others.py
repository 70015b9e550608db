"""Count the audit log, deliveries, members and teams."""

from migrations.counting import Cube, Source, as_hour, as_text, counted, uncounted

revision = "202611230510"
down_revision = "202611230509"
branch_labels = None
depends_on = None

NOBODY = "00000000-0000-0000-0000-000000000000"
ENTRY = ("actor_kind", "action", "target_type")
AUDIT = Source(
    "audit",
    {
        "actor_kind": "r.actor_kind",
        "action": "r.action",
        "target_type": "r.target_type",
        "actor_id": as_text("r.actor_id"),
        "at": as_hour("r.at"),
    },
    (
        Cube("audit", ENTRY),
        Cube("audit.actor", ENTRY, key="actor_id"),
        Cube("audit.at.month", ENTRY, bucket="at", length=7),
        Cube("audit.at.day", ENTRY, bucket="at", length=10),
    ),
    # Entries without an organization are in no list.
    condition=f"r.organization_id <> '{NOBODY}'",
)
DELIVERIES = Source(
    "deliveries",
    {
        "webhook_id": as_text("r.webhook_id"),
        "status": "r.status",
        "event": "r.event",
        "created": as_hour("r.created_at"),
    },
    (
        Cube("deliveries", ("status", "event"), key="webhook_id"),
        *(
            Cube(
                f"deliveries.created.{name}",
                ("status", "event"),
                key="webhook_id",
                bucket="created",
                length=length,
            )
            for name, length in (("month", 7), ("day", 10))
        ),
    ),
)
MEMBERS = Source(
    "members",
    {"role": "r.role", "joined": as_hour("r.created_at")},
    (
        Cube("members", ("role",)),
        Cube("members.joined.month", ("role",), bucket="joined", length=7),
        Cube("members.joined.day", ("role",), bucket="joined", length=10),
    ),
)
TEAMS = Source(
    "teams",
    {"root": "CAST(r.parent_id IS NULL AS text)", "created": as_hour("r.created_at")},
    (
        Cube("teams", ("root",)),
        Cube("teams.created.month", ("root",), bucket="created", length=7),
        Cube("teams.created.day", ("root",), bucket="created", length=10),
    ),
)


def upgrade() -> None:
    counted("memberships", MEMBERS)
    counted("teams", TEAMS)
    counted("webhook_deliveries", DELIVERIES)
    counted("audit_entries", AUDIT)


def downgrade() -> None:
    uncounted("audit", "deliveries", "teams", "members")
