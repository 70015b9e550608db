"""Count quality runs."""

from migrations.counting import Cube, Source, as_hour, as_text, counted, uncounted

revision = "202612050103"
down_revision = "202612050102"
branch_labels = None
depends_on = None

FACETS, SCHEMA = ("status",), "schema_id"
# A schema usually has one run a day, so its days would be almost as many as its runs.
RUNS = Source(
    "quality_runs",
    {
        "status": "r.status",
        SCHEMA: as_text("r.schema_id"),
        "created": as_hour("r.created_at"),
    },
    (
        Cube("quality_runs", FACETS),
        Cube("quality_runs.schema", FACETS, key=SCHEMA),
        Cube("quality_runs.created.month", FACETS, bucket="created", length=7),
        Cube("quality_runs.created.day", FACETS, bucket="created", length=10),
        Cube("quality_runs.schema.created.month", FACETS, SCHEMA, "created", 7),
    ),
)


def upgrade() -> None:
    counted("quality_runs", RUNS)


def downgrade() -> None:
    uncounted("quality_runs")
