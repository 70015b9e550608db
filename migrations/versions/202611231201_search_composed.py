"""Index words in composed form (NFC), so that a query finds them with any form of accents.

The job for the search backlog indexes existing documents again. Until then, composed queries do not
find documents with decomposed accents.
"""

from alembic import op

revision = "202611231201"
down_revision = "202611231121"
branch_labels = None
depends_on = None

UNSAFE = (
    (
        "rows-without-batches",
        "INSERT INTO artifact_search_backlog",
        "One small row for each organization, in a table to which only the indexing job writes.",
    ),
)
METADATA_BYTES = 60_000
MOST_BYTES = 240_000
# The function of 202611212310, with composed characters. The text is also cut before it is
# composed, because it may have millions of characters, and after it, because a few characters
# become longer.
COMPOSED = "search_cut(normalize(search_cut({words}, {most}), NFC), {most})"
AS_IT_IS = "search_cut({words}, {most})"
WORDS = """concat_ws(' ', name,
        translate(name, '.,;_:-+@=~#&()[]{{}}', repeat(' ', 18)),
        search_cut((SELECT string_agg(member #>> '{{}}', ' ' ORDER BY key)
                    FROM jsonb_each(metadata) AS told (key, member)
                    WHERE jsonb_typeof(member) <> 'boolean'), {metadata}),
        words)"""
SEARCHED = """
CREATE OR REPLACE FUNCTION searched_words(name text, metadata jsonb, words text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT {cut}
$$
"""


def upgrade() -> None:
    op.execute(_searched(COMPOSED))
    op.execute(
        "INSERT INTO artifact_search_backlog (organization_id) SELECT id FROM organizations o"
        " WHERE EXISTS (SELECT FROM artifacts a WHERE a.organization_id = o.id)"
        " ON CONFLICT (organization_id) DO UPDATE SET after = NULL"
    )


def downgrade() -> None:
    op.execute(_searched(AS_IT_IS))


def _searched(cut: str) -> str:
    words = WORDS.format(metadata=METADATA_BYTES)
    return SEARCHED.format(cut=cut.format(words=words, most=MOST_BYTES))
