"""Count open documents with a due date by day of creation and day of the due date."""

from migrations.counting import Cube, Source, as_hour, as_text, counted, uncounted

revision = "202611260100"
down_revision = "202611250100"
branch_labels = None
depends_on = None

DUE = Source(
    "due",
    {
        "schema_id": as_text("r.schema_id"),
        "due_day": f"left({as_hour('r.due_at')}, 10)",
        "created": as_hour("r.created_at"),
    },
    (Cube("due.created.day", ("schema_id", "due_day"), bucket="created", length=10),),
    condition=(
        "r.due_at IS NOT NULL AND NOT r.archived"
        " AND r.status IN ('processing', 'ready', 'in_progress', 'in_review')"
    ),
)


def upgrade() -> None:
    counted("artifacts", DUE)


def downgrade() -> None:
    uncounted("due")
