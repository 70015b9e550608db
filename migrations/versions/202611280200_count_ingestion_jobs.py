"""Count ingestion jobs."""

from migrations.counting import Cube, Source, as_hour, as_text, counted, uncounted

revision = "202611280200"
down_revision = "202611280101"
branch_labels = None
depends_on = None

STATE = ("status", "kind")
JOBS = Source(
    "ingestion_jobs",
    {
        "status": "r.status",
        "kind": "r.kind",
        "connector_id": as_text("r.connector_id"),
        "created": as_hour("r.created_at"),
    },
    (
        Cube("ingestion_jobs", STATE),
        Cube("ingestion_jobs.connector", STATE, key="connector_id"),
        Cube("ingestion_jobs.created.month", STATE, bucket="created", length=7),
        Cube("ingestion_jobs.created.day", STATE, bucket="created", length=10),
    ),
)


def upgrade() -> None:
    counted("ingestion_jobs", JOBS)


def downgrade() -> None:
    uncounted("ingestion_jobs")
