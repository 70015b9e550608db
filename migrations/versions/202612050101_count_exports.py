"""Count exports."""

from migrations.counting import Cube, Source, as_hour, counted, uncounted

revision = "202612050101"
down_revision = "202612041002"
branch_labels = None
depends_on = None

FACETS = ("status", "format")
EXPORTS = Source(
    "exports",
    {"status": "r.status", "format": "r.format", "created": as_hour("r.created_at")},
    (
        Cube("exports", FACETS),
        Cube("exports.created.month", FACETS, bucket="created", length=7),
        Cube("exports.created.day", FACETS, bucket="created", length=10),
    ),
)


def upgrade() -> None:
    counted("exports", EXPORTS)


def downgrade() -> None:
    uncounted("exports")
