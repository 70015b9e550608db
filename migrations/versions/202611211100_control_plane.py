"""Add the plan limits and the suspension of organizations, and billing periods."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.auditing import audited, unaudited
from migrations.policies import ROLE

revision = "202611211100"
down_revision = "202611211050"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "organizations",
        sa.Column("plan_limits", postgresql.JSONB(), server_default="{}", nullable=False),
    )
    op.add_column(
        "organizations", sa.Column("suspended_at", sa.DateTime(timezone=True), nullable=True)
    )
    op.add_column("organizations", sa.Column("suspension_reason", sa.String(), nullable=True))
    op.create_table(
        "billing_periods",
        sa.Column("period", sa.String(), nullable=False),
        sa.Column("organizations", sa.Integer(), nullable=False),
        sa.Column(
            "closed_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.PrimaryKeyConstraint("period", name=op.f("pk_billing_periods")),
    )
    # A closed period is final: invoices depend on it, so it can be neither changed nor deleted.
    op.execute(f"REVOKE UPDATE, DELETE ON billing_periods FROM {ROLE}")
    audited("billing_periods", label="period")


def downgrade() -> None:
    unaudited("billing_periods")
    op.drop_table("billing_periods")
    for name in ("suspension_reason", "suspended_at", "plan_limits"):
        op.drop_column("organizations", name)
