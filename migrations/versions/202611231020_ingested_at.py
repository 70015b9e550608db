"""Store when a document was first ready, so that `artifact.ingested` is emitted only once."""

import sqlalchemy as sa
from alembic import op

from migrations.auditing import audited

revision = "202611231020"
down_revision = "202611231010"
branch_labels = None
depends_on = None

_IGNORED = ("claim_expires_at", "label_counts", "labeled_by", "reserved_for")

# Existing documents have no time yet, and neither have documents that the previous release reads. A
# document gets the time when it leaves a status that only documents have that were ready before,
# for example when it is reprocessed.
MARK = """
CREATE FUNCTION mark_ingested() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.ingested_at := now();
    RETURN NEW;
END $$
"""
ON_STATUS = """
CREATE TRIGGER mark_ingested BEFORE UPDATE OF status ON artifacts
FOR EACH ROW WHEN (OLD.ingested_at IS NULL AND OLD.status NOT IN ('processing', 'failed'))
EXECUTE FUNCTION mark_ingested()
"""


def upgrade() -> None:
    op.add_column("artifacts", sa.Column("ingested_at", sa.DateTime(timezone=True), nullable=True))
    for statement in (MARK, ON_STATUS):
        op.execute(statement)
    audited("artifacts", label="name", ignored=(*_IGNORED, "ingested_at"))


def downgrade() -> None:
    op.execute("DROP FUNCTION mark_ingested() CASCADE")
    audited("artifacts", label="name", ignored=_IGNORED)
    op.drop_column("artifacts", "ingested_at")
