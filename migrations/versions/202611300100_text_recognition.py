"""Add the columns of text recognition, and count the documents that need it."""

import sqlalchemy as sa
from alembic import op

from migrations import live
from migrations.counting import Cube, Source, as_text, counted, uncounted

revision = "202611300100"
down_revision = "202611290200"
branch_labels = None
depends_on = None

COLUMNS = (
    ("artifacts", sa.Column("has_text_layer", sa.Boolean())),
    ("artifacts", sa.Column("ocr", sa.String(), nullable=False, server_default="none")),
    ("artifact_pages", sa.Column("ocr", sa.String())),
    ("artifact_pages", sa.Column("text", sa.String())),
)
SCANNED = Source(
    "scanned",
    {
        "schema_id": as_text("r.schema_id"),
        "status": "r.status",
        "archived": "CAST(r.archived AS text)",
        "ocr": "r.ocr",
    },
    (Cube("scanned", ("schema_id", "status", "archived", "ocr")),),
    condition="r.ocr <> 'none'",
)


def upgrade() -> None:
    for table, column in COLUMNS:
        live.add_column(table, column)
    counted("artifacts", SCANNED)


def downgrade() -> None:
    uncounted("scanned")
    for table, column in COLUMNS:
        op.drop_column(table, column.name)
