"""Count the deactivations of a webhook, and store the count in its deliveries.

Therefore, deliveries that were pending at a deactivation can be abandoned later in batches, and are
distinguished from deliveries after the next activation. Webhooks are deleted in batches, too.
"""

import sqlalchemy as sa
from alembic import op

from migrations.auditing import audited

revision = "202611230700"
down_revision = "202611230513"
branch_labels = None
depends_on = None

# Deliveries change these columns; the attempts of deliveries are recorded separately.
_IGNORED = ("last_triggered_at", "last_status_code", "consecutive_failures", "paused_until")

UNSAFE = (
    (
        "ban-drop-default",
        "ALTER TABLE webhook_deliveries ALTER COLUMN generation DROP DEFAULT",
        "Only the existing rows needed the default; a trigger sets the webhook's generation in new"
        " rows.",
    ),
)

# Instances of the previous release set no generation when they create or redeliver a delivery.
STAMP = """
CREATE FUNCTION stamp_generation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.generation := (SELECT w.generation FROM webhooks w
                       WHERE w.organization_id = NEW.organization_id AND w.id = NEW.webhook_id);
    RETURN NEW;
END $$
"""
ON_INSERT = """
CREATE TRIGGER stamp_created BEFORE INSERT ON webhook_deliveries
FOR EACH ROW WHEN (NEW.generation IS NULL) EXECUTE FUNCTION stamp_generation()
"""
ON_REDELIVERY = """
CREATE TRIGGER stamp_redelivered BEFORE UPDATE OF round ON webhook_deliveries
FOR EACH ROW WHEN (NEW.round <> OLD.round) EXECUTE FUNCTION stamp_generation()
"""


def upgrade() -> None:
    op.add_column("webhooks", sa.Column("generation", sa.Integer(), server_default="0", nullable=False))
    op.add_column("webhooks", sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column(
        "webhook_deliveries", sa.Column("generation", sa.Integer(), server_default="0", nullable=True)
    )
    op.alter_column("webhook_deliveries", "generation", server_default=None)
    op.execute(STAMP)
    op.execute(ON_INSERT)
    op.execute(ON_REDELIVERY)
    audited("webhooks", label="url", ignored=(*_IGNORED, "generation"))


def downgrade() -> None:
    audited("webhooks", label="url", ignored=_IGNORED)
    op.execute("DROP TRIGGER stamp_redelivered ON webhook_deliveries")
    op.execute("DROP TRIGGER stamp_created ON webhook_deliveries")
    op.execute("DROP FUNCTION stamp_generation()")
    op.drop_column("webhook_deliveries", "generation")
    op.drop_column("webhooks", "deleted_at")
    op.drop_column("webhooks", "generation")
