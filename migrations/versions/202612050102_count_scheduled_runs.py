"""Count the runs of each scheduled export."""

from migrations.counting import Cube, Source, as_hour, as_text, counted, uncounted

revision = "202612050102"
down_revision = "202612050101"
branch_labels = None
depends_on = None

# Most scheduled exports run once a day, so there would be as many days as runs. Runs are at least 15
# minutes apart, so the incomplete months of a period have at most some thousand runs.
RUNS = Source(
    "scheduled_export_runs",
    {
        "scheduled_export_id": as_text("r.scheduled_export_id"),
        "created": as_hour("r.created_at"),
    },
    (
        Cube("scheduled_export_runs", (), key="scheduled_export_id"),
        Cube(
            "scheduled_export_runs.created.month",
            (),
            key="scheduled_export_id",
            bucket="created",
            length=7,
        ),
    ),
)


def upgrade() -> None:
    counted("scheduled_export_runs", RUNS)


def downgrade() -> None:
    uncounted("scheduled_export_runs")
