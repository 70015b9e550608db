"""Index documents by language and media type, and records by the accounts that they name.

Labelers may request a language, and lists are filtered by both. When an account is deleted,
PostgreSQL looks for it in every table that refers to accounts.
"""

import sqlalchemy as sa

from migrations import live

revision = "202612051103"
down_revision = "202612051102"
branch_labels = None
depends_on = None

LANGUAGE_OF_WORK = "ix_artifacts_language_of_work"
URGENCY = "(CASE WHEN nearly_due THEN 101 ELSE priority END) DESC"
URGENT_AT = (
    "(CASE WHEN nearly_due THEN timezone('UTC', timezone('UTC', due_at)"
    " - priority::float8 * interval '1 millisecond') ELSE created_at END)"
)
POOL = (
    "status IN ('ready', 'in_progress') AND NOT archived AND claim_user_id IS NULL"
    " AND assignees = '[]' AND schema_id IS NOT NULL AND language IS NOT NULL"
)
FILTERS = ("media_type", "language")
ACCOUNTS = (
    ("artifacts", "created_by"),
    ("artifact_acts", "user_id"),
    ("tag_set_revisions", "author_id"),
    ("tag_set_comments", "author_id"),
    ("tag_set_comments", "resolved_by_id"),
    ("predictions", "requested_by"),
    ("prediction_feedback", "labeler_id"),
    ("prediction_feedback", "recorded_by"),
    ("ingestion_jobs", "created_by"),
    ("exports", "created_by"),
)
# These columns are null in most tag sets, and in all drafts, which are saved most often.
REVIEWERS = ("assignee_id", "escalated_by")


def upgrade() -> None:
    live.create_index(
        LANGUAGE_OF_WORK,
        "artifacts",
        ["organization_id", "schema_id", "language", sa.text(URGENCY), sa.text(URGENT_AT), "id"],
        postgresql_where=sa.text(POOL),
        postgresql_include=[
            *("labeled_by", "reserved_for", "priority", "nearly_due", "due_at", "created_at"),
        ],
    )
    for column in FILTERS:
        columns = ["organization_id", "archived", column, "created_at", "id"]
        live.create_index(f"ix_artifacts_list_{column}", "artifacts", columns)
    for table, column in ACCOUNTS:
        live.create_index(f"ix_{table}_{column}", table, [column])
    for column in REVIEWERS:
        condition = sa.text(f"{column} IS NOT NULL")
        live.create_index(
            f"ix_tag_sets_{column}", "tag_sets", [column], postgresql_where=condition
        )


def downgrade() -> None:
    for column in REVIEWERS:
        live.drop_index(f"ix_tag_sets_{column}")
    for table, column in ACCOUNTS:
        live.drop_index(f"ix_{table}_{column}")
    for column in FILTERS:
        live.drop_index(f"ix_artifacts_list_{column}")
    live.drop_index(LANGUAGE_OF_WORK)
