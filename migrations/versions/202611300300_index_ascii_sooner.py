"""Prepare ASCII texts for the index of words without composing them.

Composing (NFC) does not change ASCII, but took 20 to 40 us for a text of 600 characters: as much as
half of splitting it into words. The results of the function stay the same.
"""

from alembic import op

revision = "202611300300"
down_revision = "202611300200"
branch_labels = None
depends_on = None

METADATA_BYTES = 60_000
MOST_BYTES = 240_000
SEARCHED = f"""
CREATE OR REPLACE FUNCTION searched_words(name text, metadata jsonb, words text) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    members text;
    searched text;
BEGIN
    IF metadata <> '{{}}' THEN
        SELECT string_agg(member #>> '{{}}', ' ' ORDER BY key) INTO members
        FROM jsonb_each(metadata) AS told (key, member)
        WHERE jsonb_typeof(member) <> 'boolean';
        members := search_cut(members, {METADATA_BYTES});
    END IF;
    searched := concat_ws(' ', name, translate(name, '.,;_:-+@=~#&()[]{{}}', repeat(' ', 18)),
                          members, words);
    -- Only in ASCII does every character take one byte.
    IF octet_length(searched) <= {MOST_BYTES} AND octet_length(searched) = char_length(searched) THEN
        RETURN searched;
    END IF;
    RETURN search_cut(normalize(search_cut(searched, {MOST_BYTES}), NFC), {MOST_BYTES});
END $$
"""
# The function of 202611231201, for the downgrade.
BEFORE = f"""
CREATE OR REPLACE FUNCTION searched_words(name text, metadata jsonb, words text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT search_cut(normalize(search_cut(concat_ws(' ', name,
        translate(name, '.,;_:-+@=~#&()[]{{}}', repeat(' ', 18)),
        search_cut((SELECT string_agg(member #>> '{{}}', ' ' ORDER BY key)
                    FROM jsonb_each(metadata) AS told (key, member)
                    WHERE jsonb_typeof(member) <> 'boolean'), {METADATA_BYTES}),
        words), {MOST_BYTES}), NFC), {MOST_BYTES})
$$
"""


def upgrade() -> None:
    op.execute(SEARCHED)


def downgrade() -> None:
    op.execute(BEFORE)
