"""Index the words of new texts by statement, not by row.

An import inserts 500 texts at once. Each of them was indexed by a separate statement with separate
triggers.
"""

from alembic import op

revision = "202611270105"
down_revision = "202611270100"
branch_labels = None
depends_on = None

FUNCTION = """
CREATE FUNCTION follow_searched_texts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM index_artifacts(added.organization_id, added.ids)
    FROM (
        SELECT organization_id, array_agg(artifact_id ORDER BY artifact_id) AS ids
        FROM new_rows GROUP BY organization_id
    ) AS added;
    RETURN NULL;
END $$
"""
BY_STATEMENT = """
CREATE OR REPLACE TRIGGER follow_searched_insert AFTER INSERT ON artifact_texts
REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION follow_searched_texts()
"""
BY_ROW = """
CREATE OR REPLACE TRIGGER follow_searched_insert AFTER INSERT ON artifact_texts
FOR EACH ROW EXECUTE FUNCTION follow_searched_text()
"""


def upgrade() -> None:
    op.execute(FUNCTION)
    op.execute(BY_STATEMENT)


def downgrade() -> None:
    op.execute(BY_ROW)
    op.execute("DROP FUNCTION follow_searched_texts()")
