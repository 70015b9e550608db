"""Clear the predictions of documents when they are deleted with their schemas."""

from alembic import op

revision = "202612030503"
down_revision = "202612030502"
branch_labels = None
depends_on = None

# Only for deleted schemas: if a prediction is deleted with its document, nothing must be cleared. A
# transaction that has locked a document may be waiting for the schema, so locked documents are
# skipped.
CLEAR = """
CREATE FUNCTION clear_deleted_predictions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE artifacts SET prediction = NULL
    FROM (
        SELECT d.organization_id, d.id
        FROM old_rows o
        JOIN artifacts d ON d.organization_id = o.organization_id AND d.id = o.artifact_id
         AND d.prediction ->> 'id' = CAST(o.id AS text)
        WHERE NOT EXISTS (SELECT FROM schemas s
                          WHERE s.organization_id = o.organization_id AND s.id = o.schema_id)
        ORDER BY d.organization_id, d.id
        FOR NO KEY UPDATE OF d SKIP LOCKED
    ) shown
    WHERE artifacts.organization_id = shown.organization_id AND artifacts.id = shown.id;
    RETURN NULL;
END $$
"""
ON_DELETE = """
CREATE TRIGGER clear_deleted AFTER DELETE ON predictions
REFERENCING OLD TABLE AS old_rows
FOR EACH STATEMENT EXECUTE FUNCTION clear_deleted_predictions()
"""


def upgrade() -> None:
    op.execute(CLEAR)
    op.execute(ON_DELETE)


def downgrade() -> None:
    op.execute("DROP FUNCTION clear_deleted_predictions() CASCADE")
