"""Record the usage of predictions that were completed before 202612030501."""

from migrations import live

revision = "202612030502"
down_revision = "202612030501"
branch_labels = None
depends_on = None

PENDING = """
predictions.status = 'completed' AND NOT EXISTS (
    SELECT FROM prediction_usage u
    WHERE u.organization_id = predictions.organization_id AND u.prediction_id = predictions.id)
"""
FILL = """
INSERT INTO prediction_usage (organization_id, prediction_id, pages, prompt_tokens,
    completion_tokens, completed_at)
SELECT p.organization_id, p.id, p.pages, p.prompt_tokens, p.completion_tokens,
    coalesce(p.completed_at, p.created_at)
FROM batch b JOIN predictions p USING (organization_id, id)
ON CONFLICT (organization_id, prediction_id) DO NOTHING
"""


def upgrade() -> None:
    live.backfill("predictions", FILL, pending=PENDING)


def downgrade() -> None:
    pass
