"""Count the work that is assigned to each user and team."""

from migrations.counting import Cube, Source, as_hour, as_text, counted, uncounted

revision = "202611230503"
down_revision = "202611230502"
branch_labels = None
depends_on = None

STATE = ("schema_id", "status", "archived")
ASSIGNED = Source(
    "assigned",
    {
        "assignee_id": as_text("r.assignee_id"),
        "schema_id": as_text("r.schema_id"),
        "status": "r.status",
        "archived": "CAST(r.archived AS text)",
    },
    (Cube("assigned", STATE, key="assignee_id"),),
)
# Open documents. `labeled_by` shows which users have already labeled a document, and `assignees`
# which documents have several assignees.
OFFER = ("schema_id", "assignees", "labeled_by", "places_taken")
OFFERED = Source(
    "offered",
    {
        "assignee_id": as_text("r.assignee_id"),
        "schema_id": as_text("r.schema_id"),
        "assignees": "r.assignees_hash",
        "labeled_by": (
            "array_to_string(ARRAY(SELECT DISTINCT one FROM unnest(r.labeled_by) AS one"
            " ORDER BY 1), ',', 'model')"
        ),
        "places_taken": "CAST(r.places_taken AS text)",
        "due": as_hour("r.due_at"),
    },
    (
        Cube("offered", OFFER, key="assignee_id"),
        Cube("offered.due.month", OFFER, key="assignee_id", bucket="due", length=7),
        Cube("offered.due.day", OFFER, key="assignee_id", bucket="due", length=10),
    ),
    condition="r.is_open",
)


def upgrade() -> None:
    counted("artifact_assignees", ASSIGNED, OFFERED)


def downgrade() -> None:
    uncounted("assigned", "offered")
