"""Count drift reports."""

from migrations.counting import Cube, Source, as_hour, as_text, counted, uncounted

revision = "202612051101"
down_revision = "202612050106"
branch_labels = None
depends_on = None

FACETS, LABELER, SCHEMA = ("status", "subject", "metric"), "labeler_id", "schema_id"
REPORTS = Source(
    "drift_reports",
    {
        **{name: f"r.{name}" for name in FACETS},
        # A cube has no cells for an empty key, so `none` stands for no labeler.
        LABELER: "coalesce(CAST(r.labeler_id AS text), 'none')",
        SCHEMA: as_text("r.schema_id"),
        "created": as_hour("r.created_at"),
    },
    (
        Cube("drift_reports", FACETS),
        Cube("drift_reports.labeler", FACETS, LABELER),
        Cube("drift_reports.schema", (*FACETS, LABELER), SCHEMA),
        Cube("drift_reports.created.month", FACETS, None, "created", 7),
        Cube("drift_reports.labeler.created.month", FACETS, LABELER, "created", 7),
        Cube("drift_reports.schema.created.month", (*FACETS, LABELER), SCHEMA, "created", 7),
    ),
)


def upgrade() -> None:
    counted("drift_reports", REPORTS)


def downgrade() -> None:
    uncounted("drift_reports")
