"""Add the required skills of schemas."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.auditing import audited

revision = "202611212300"
down_revision = "202611211100"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "schemas",
        sa.Column("required_skills", postgresql.JSONB(), server_default="[]", nullable=False),
    )
    op.add_column(
        "schemas",
        sa.Column(
            "required_skill_keys",
            postgresql.ARRAY(sa.String()),
            server_default="{}",
            nullable=False,
        ),
    )
    # The keys are derived from the skills.
    audited("schemas", label="name", ignored=("required_skill_keys",))


def downgrade() -> None:
    op.drop_column("schemas", "required_skill_keys")
    op.drop_column("schemas", "required_skills")
    audited("schemas", label="name")
