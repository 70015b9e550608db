"""Record the usage of each completed prediction once, and keep it if the prediction is deleted."""

import sqlalchemy as sa
from alembic import op

from migrations.policies import protect

revision = "202612030501"
down_revision = "202612021002"
branch_labels = None
depends_on = None

TABLE = "prediction_usage"
# A trigger records the usage, so that predictions of the previous release are recorded, too. A
# prediction has one row, which later changes of the prediction do not affect.
RECORD = """
CREATE FUNCTION record_prediction_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO prediction_usage (organization_id, prediction_id, pages, prompt_tokens,
        completion_tokens, completed_at)
    VALUES (NEW.organization_id, NEW.id, NEW.pages, NEW.prompt_tokens, NEW.completion_tokens,
        coalesce(NEW.completed_at, now()))
    ON CONFLICT (organization_id, prediction_id) DO NOTHING;
    RETURN NULL;
END $$
"""
ON_COMPLETION = """
CREATE TRIGGER record_usage AFTER INSERT OR UPDATE OF status ON predictions
FOR EACH ROW WHEN (NEW.status = 'completed')
EXECUTE FUNCTION record_prediction_usage()
"""


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("prediction_id", sa.Uuid(), nullable=False),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=f"fk_{TABLE}_organization_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "prediction_id", name=f"pk_{TABLE}"),
    )
    op.create_index(f"ix_{TABLE}_time", TABLE, ["organization_id", "completed_at"])
    protect(TABLE)
    op.execute(RECORD)
    op.execute(ON_COMPLETION)


def downgrade() -> None:
    op.execute("DROP FUNCTION record_prediction_usage() CASCADE")
    op.drop_table(TABLE)
