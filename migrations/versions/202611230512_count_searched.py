"""Count searchable documents, with a sum that changes whenever the words of a document do."""

import sqlalchemy as sa
from alembic import op

from migrations.counting import Cube, Source, counted, uncounted

revision = "202611230512"
down_revision = "202611230511"
branch_labels = None
depends_on = None

# The function of 202611212310, which now also counts the changes of the words.
INDEX = """
CREATE OR REPLACE FUNCTION index_artifacts(organization uuid, artifacts uuid[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
    INSERT INTO artifact_search
        (organization_id, artifact_id, created_at, archived, language, filler, vector)
    SELECT a.organization_id, a.id, a.created_at, a.archived, l.language, repeat(' ', 2000),
           array_to_tsvector(ARRAY[search_mark(l.language, a.organization_id)])
           || to_tsvector(search_configuration(l.language),
                          searched_words(a.name, a.metadata, coalesce(t.text, '')))
    FROM artifacts a
    LEFT JOIN artifact_texts t ON t.organization_id = a.organization_id AND t.artifact_id = a.id
    CROSS JOIN LATERAL (SELECT search_language(a.language)) AS l (language)
    WHERE a.organization_id = index_artifacts.organization AND a.id = ANY (index_artifacts.artifacts)
    ON CONFLICT (organization_id, artifact_id) DO UPDATE SET
        archived = excluded.archived, language = excluded.language, vector = excluded.vector{more}
$$
"""
# Forty bits for each document: the sum for eight million documents fits in a bigint.
SEARCHED = Source(
    "searched",
    {"archived": "CAST(r.archived AS text)"},
    (Cube("searched", ("archived",)),),
    measure=(
        "hashtextextended(CAST(r.artifact_id AS text) || r.changes, 0) & CAST(1099511627775 AS bigint)"
    ),
)


def upgrade() -> None:
    changes = sa.Column("changes", sa.Integer(), server_default="0", nullable=False)
    op.add_column("artifact_search", changes)
    op.execute(INDEX.format(more=", changes = artifact_search.changes + 1"))
    counted("artifact_search", SEARCHED)


def downgrade() -> None:
    uncounted("searched")
    op.execute(INDEX.format(more=""))
    op.drop_column("artifact_search", "changes")
