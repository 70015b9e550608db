"""Fill `artifact_assignees`, and add indexes for filtered and sorted lists of documents."""

import sqlalchemy as sa

from migrations import live

revision = "202611230502"
down_revision = "202611230501"
branch_labels = None
depends_on = None

FILL = """
UPDATE artifact_assignees work
SET status = n.status, archived = n.archived, created_at = n.created_at, due_at = n.due_at,
    places_taken = cardinality(n.labeled_by) + cardinality(n.reserved_for),
    assignees_hash = md5(CAST(n.assignees AS text))
FROM batch b, artifacts n
WHERE work.organization_id = b.organization_id AND work.artifact_id = b.artifact_id
  AND work.assignee_id = b.assignee_id
  AND n.organization_id = b.organization_id AND n.id = b.artifact_id
"""
LISTS = {
    "created": ["created_at"],
    "status": ["status", "created_at"],
    "schema": ["schema_id", "status", "created_at"],
    "name": ["name"],
    "priority": ["priority"],
    "updated": ["updated_at"],
}
BEFORE = {
    "created": (["created_at"], ["archived"]),
    "status": (["status", "created_at"], ["archived"]),
    "schema": (["schema_id", "created_at"], ["archived"]),
    "name": (["name"], []),
    "priority": (["priority"], []),
}
# Not `coalesce`: it is not leakproof, so row-level security would prevent the use of the index.
SCHEMA = "(CASE WHEN schema_id IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid ELSE schema_id END)"


def upgrade() -> None:
    live.backfill("artifact_assignees", FILL, pending="created_at IS NULL")
    for column in ("status", "archived", "created_at", "places_taken", "assignees_hash"):
        live.set_not_null("artifact_assignees", column)
    assigned = ["organization_id", "assignee_id", "archived"]
    live.create_index(
        "ix_artifact_assignees_list", "artifact_assignees", [*assigned, "created_at", "artifact_id"]
    )
    live.create_index(
        "ix_artifact_assignees_state",
        "artifact_assignees",
        [*assigned, sa.text(SCHEMA), "status", "created_at", "artifact_id"],
    )
    live.create_index(
        "ix_artifact_assignees_due",
        "artifact_assignees",
        ["organization_id", "assignee_id", "due_at"],
        postgresql_where=sa.text("is_open AND due_at IS NOT NULL"),
    )
    live.create_index(
        "ix_artifact_skips_user", "artifact_skips", ["organization_id", "user_id", "artifact_id"]
    )
    for name, columns in LISTS.items():
        live.create_index(
            f"ix_artifacts_list_{name}", "artifacts", ["organization_id", "archived", *columns, "id"]
        )
    live.create_index(
        "ix_artifacts_gold",
        "artifacts",
        ["organization_id", "archived", "created_at", "id"],
        postgresql_where=sa.text("gold"),
    )
    live.create_index(
        "ix_artifacts_due",
        "artifacts",
        ["organization_id", "archived", "status", "due_at"],
        postgresql_where=sa.text("due_at IS NOT NULL"),
        postgresql_include=["schema_id", "created_at"],
    )
    for name in (*BEFORE, "archived"):
        live.drop_index(f"ix_artifacts_{name}")


def downgrade() -> None:
    for name, (columns, included) in BEFORE.items():
        live.create_index(
            f"ix_artifacts_{name}",
            "artifacts",
            ["organization_id", *columns, "id"],
            **({"postgresql_include": included} if included else {}),
        )
    live.create_index(
        "ix_artifacts_archived",
        "artifacts",
        ["organization_id", "id"],
        postgresql_where=sa.text("archived"),
    )
    for name in LISTS:
        live.drop_index(f"ix_artifacts_list_{name}")
    for name in ("ix_artifacts_gold", "ix_artifacts_due"):
        live.drop_index(name)
    live.drop_index("ix_artifact_skips_user")
    for name in ("list", "state", "due"):
        live.drop_index(f"ix_artifact_assignees_{name}")
