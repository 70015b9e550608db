"""Find words with the word index alone, regardless of how many documents an organization has.

PostgreSQL does not know the organization when it plans the prepared statement. If there were few
organizations, or if one had most documents, it also read the index entries of all documents of the
organization. It has no index for `IS NOT DISTINCT FROM`.
"""

from alembic import op

from migrations.policies import ROLE

revision = "202611260200"
down_revision = "202611260101"
branch_labels = None
depends_on = None

VIEW = """
CREATE VIEW search_hits AS
SELECT artifact_id, created_at, archived, vector FROM artifact_search
WHERE organization_id IS NOT DISTINCT FROM
    (SELECT NULLIF(current_setting('app.organization_id', true), '')::uuid)
"""


def upgrade() -> None:
    op.execute(VIEW)
    op.execute(f"REVOKE ALL ON search_hits FROM {ROLE}")
    op.execute(f"GRANT SELECT ON search_hits TO {ROLE}")


def downgrade() -> None:
    op.execute("DROP VIEW search_hits")
