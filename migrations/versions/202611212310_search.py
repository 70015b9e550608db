"""Add full-text search in the document's language.

Until a job has indexed the existing documents again (`artifact_search_backlog`), searches use their
previous vectors. Instances of the previous release, which may still be running, call the function
`search_artifacts`. It searches the previous and the new vectors, because new documents have only a
new vector. A later release drops this function, the previous vector and its index.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations import live
from migrations.policies import ROLE, protect

revision = "202611212310"
down_revision = "202611212300"
branch_labels = None
depends_on = None

LANGUAGES = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
"""ISO 639-1 codes and the stemmers that PostgreSQL 16 has."""

# PostgreSQL's own configurations drop stop words: `-will` would exclude nothing, and a stop word in
# a phrase would match any word. Words in Latin script use the English stemmer if the language has
# another script.
CONFIGURATION = """
CREATE TEXT SEARCH DICTIONARY search_{name}_stem (TEMPLATE = pg_catalog.snowball, Language = {name});
CREATE TEXT SEARCH CONFIGURATION search_{name} (COPY = pg_catalog.{name});
ALTER TEXT SEARCH CONFIGURATION search_{name}
    ALTER MAPPING REPLACE pg_catalog.{name}_stem WITH search_{name}_stem;
ALTER TEXT SEARCH CONFIGURATION search_{name}
    ALTER MAPPING REPLACE pg_catalog.english_stem WITH search_english_stem;
"""

LANGUAGE = """
CREATE FUNCTION search_language(code text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE code {cases} ELSE 'simple' END
$$
"""
CONFIGURED = """
CREATE FUNCTION search_configuration(language text) RETURNS regconfig LANGUAGE sql STABLE AS $$
    SELECT CAST(CASE language WHEN 'simple' THEN 'pg_catalog.simple'
                ELSE 'public.search_' || language END AS regconfig)
$$
"""
# A lexeme with a blank cannot occur in a text, so it can mark the organization and the language of
# a document. With it, one index finds only the documents of an organization, and the documents of
# each language can be searched for the stems of that language.
MARK = """
CREATE FUNCTION search_mark(language text, organization uuid) RETURNS text LANGUAGE sql IMMUTABLE
AS $$ SELECT language || ' ' || organization $$
"""
# PostgreSQL rejects a tsvector of more than 1 MB. In the worst case, a text of words with hyphens,
# the tsvector is four times as large as the text. The text is cut between two characters, before a
# byte that does not continue a character.
CUT = """
CREATE FUNCTION search_cut(words text, most int) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    bytes bytea;
    size int := most;
BEGIN
    words := left(words, most);
    IF octet_length(words) <= most THEN
        RETURN words;
    END IF;
    bytes := convert_to(words, 'UTF8');
    WHILE get_byte(bytes, size) & 192 = 128 LOOP
        size := size - 1;
    END LOOP;
    RETURN convert_from(substring(bytes FOR size), 'UTF8');
END $$
"""
# PostgreSQL treats `bill_4711.pdf` as one word, but searches must also find its parts.
SEARCHED = """
CREATE FUNCTION searched_words(name text, metadata jsonb, words text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT search_cut(concat_ws(' ', name,
        translate(name, '.,;_:-+@=~#&()[]{{}}', repeat(' ', 18)),
        search_cut((SELECT string_agg(member #>> '{{}}', ' ' ORDER BY key)
                    FROM jsonb_each(metadata) AS told (key, member)
                    WHERE jsonb_typeof(member) <> 'boolean'), {metadata}),
        words), {most})
$$
"""
# Counting the hits of a common word reads half of all rows, so the rows must be small, without the
# vectors. PostgreSQL stores a value outside a row only if the row is larger than 2 kB. The filler
# makes every row larger than that, but is compressed to a few bytes.
INDEX = """
CREATE FUNCTION index_artifacts(organization uuid, artifacts uuid[]) RETURNS void
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
        archived = excluded.archived, language = excluded.language, vector = excluded.vector
$$
"""
FOLLOW_TEXT = """
CREATE FUNCTION follow_searched_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM index_artifacts(NEW.organization_id, ARRAY[NEW.artifact_id]);
    RETURN NULL;
END $$
"""
FOLLOW_ARTIFACT = """
CREATE FUNCTION follow_searched_artifact() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.name <> OLD.name OR NEW.metadata <> OLD.metadata
       OR NEW.language IS DISTINCT FROM OLD.language THEN
        PERFORM index_artifacts(NEW.organization_id, ARRAY[NEW.id]);
    ELSE
        UPDATE artifact_search SET archived = NEW.archived
        WHERE organization_id = NEW.organization_id AND artifact_id = NEW.id;
    END IF;
    RETURN NULL;
END $$
"""
TRIGGERS = """
CREATE TRIGGER follow_searched_insert AFTER INSERT ON artifact_texts
FOR EACH ROW EXECUTE FUNCTION follow_searched_text();
CREATE TRIGGER follow_searched_update AFTER UPDATE OF text ON artifact_texts
FOR EACH ROW EXECUTE FUNCTION follow_searched_text();
CREATE TRIGGER follow_searched AFTER UPDATE OF name, metadata, language, archived ON artifacts
FOR EACH ROW WHEN (OLD.name <> NEW.name OR OLD.metadata <> NEW.metadata
    OR OLD.language IS DISTINCT FROM NEW.language OR OLD.archived <> NEW.archived)
EXECUTE FUNCTION follow_searched_artifact()
"""
# Builds the query for each language in which the organization has documents. Null matches nothing.
QUERY = """
CREATE FUNCTION search_query(query text) RETURNS tsquery
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    organization uuid := NULLIF(current_setting('app.organization_id', true), '')::uuid;
    spoken text := '';
    asked tsquery;
    whole tsquery;
BEGIN
    LOOP
        SELECT min(s.language) INTO spoken FROM artifact_search s
        WHERE s.organization_id = organization AND s.language > spoken;
        EXIT WHEN spoken IS NULL;
        asked := websearch_to_tsquery(search_configuration(spoken), query);
        IF numnode(asked) > 0 THEN
            asked := CAST('''' || search_mark(spoken, organization) || '''' AS tsquery) && asked;
            whole := CASE WHEN whole IS NULL THEN asked ELSE whole || asked END;
        END IF;
    END LOOP;
    RETURN whole;
END $$
"""
# A view reads with the rights of its owner, to whom the policy of the table does not apply. The
# view selects the rows of the current organization itself, because a policy would prevent
# PostgreSQL from using the text index.
VIEW = """
CREATE VIEW searchable_artifacts AS
SELECT artifact_id, created_at, archived, vector FROM artifact_search
WHERE organization_id = (SELECT NULLIF(current_setting('app.organization_id', true), '')::uuid)
"""

# The previous `search_artifacts`, for instances of this release, which search the backlog
# separately.
SEARCH_BACKLOG = """
CREATE FUNCTION search_backlog(query text) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
    SELECT artifact_id FROM artifact_texts
    WHERE organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid
      AND search @@ websearch_to_tsquery('simple', query)
$$
"""
SEARCH_OLD = """
CREATE OR REPLACE FUNCTION search_artifacts(query text) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
    SELECT search_backlog(query)
    UNION SELECT artifact_id FROM searchable_artifacts WHERE vector @@ search_query(query)
$$
"""
# The function before this migration (202611210700), for the downgrade.
SEARCH_BEFORE = SEARCH_BACKLOG.replace(
    "CREATE FUNCTION search_backlog", "CREATE OR REPLACE FUNCTION search_artifacts"
)
# Documents that were created after the migration have no vector in the old column.
FILL_OLD = """
UPDATE artifact_texts t
SET search = to_tsvector('pg_catalog.simple', searched_words(a.name, a.metadata, t.text))
FROM batch b, artifacts a
WHERE t.organization_id = b.organization_id AND t.artifact_id = b.artifact_id
  AND a.organization_id = b.organization_id AND a.id = b.artifact_id
"""
METADATA_BYTES = 60_000
MOST_BYTES = 240_000


def upgrade() -> None:
    _words()
    # From here on, no documents can be written, so no later statement may take long.
    _tables()
    for statement in (INDEX, FOLLOW_TEXT, FOLLOW_ARTIFACT, TRIGGERS, QUERY, VIEW):
        op.execute(statement)
    op.execute(f"REVOKE ALL ON searchable_artifacts FROM {ROLE}")
    op.execute(f"GRANT SELECT ON searchable_artifacts TO {ROLE}")
    op.execute("ALTER TABLE artifact_texts ALTER COLUMN search SET DEFAULT ''")
    for statement in (SEARCH_BACKLOG, SEARCH_OLD):
        op.execute(statement)
    op.execute("REVOKE ALL ON FUNCTION search_backlog(text) FROM PUBLIC")
    op.execute(f"GRANT EXECUTE ON FUNCTION search_backlog(text) TO {ROLE}")
    op.execute(
        "INSERT INTO artifact_search_backlog (organization_id) SELECT id FROM organizations o"
        " WHERE EXISTS (SELECT FROM artifacts a WHERE a.organization_id = o.id)"
    )


def _words() -> None:
    for name in sorted(set(LANGUAGES.values()), key=lambda name: (name != "english", name)):
        op.execute(CONFIGURATION.format(name=name))
    cases = " ".join(f"WHEN '{code}' THEN '{name}'" for code, name in LANGUAGES.items())
    op.execute(LANGUAGE.format(cases=cases))
    op.execute(CUT)
    op.execute(SEARCHED.format(metadata=METADATA_BYTES, most=MOST_BYTES))
    for statement in (CONFIGURED, MARK):
        op.execute(statement)


def _tables() -> None:
    op.create_table(
        "artifact_search",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("artifact_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("archived", sa.Boolean(), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("filler", sa.String(), nullable=False),
        sa.Column("vector", postgresql.TSVECTOR(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="fk_artifact_search_organization_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "artifact_id"],
            ["artifacts.organization_id", "artifacts.id"],
            name="fk_artifact_search_organization_id_artifact_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "artifact_id", name="pk_artifact_search"),
    )
    op.execute("ALTER TABLE artifact_search SET (toast_tuple_target = 128, fillfactor = 90)")
    op.create_index(
        "ix_artifact_search_vector", "artifact_search", ["vector"], postgresql_using="gin"
    )
    op.create_index(
        "ix_artifact_search_language", "artifact_search", ["organization_id", "language"]
    )
    op.create_table(
        "artifact_search_backlog",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("after", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="fk_artifact_search_backlog_organization_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", name="pk_artifact_search_backlog"),
    )
    # The policy must not apply to the owner, because the view reads as the owner.
    protect("artifact_search", force=False)
    protect("artifact_search_backlog")


def downgrade() -> None:
    live.backfill("artifact_texts", FILL_OLD, pending="search = ''")
    op.execute(SEARCH_BEFORE)
    op.execute("DROP FUNCTION search_backlog(text)")
    op.execute("ALTER TABLE artifact_texts ALTER COLUMN search DROP DEFAULT")
    op.execute("DROP VIEW searchable_artifacts")
    op.execute("DROP TRIGGER follow_searched ON artifacts")
    for event in ("insert", "update"):
        op.execute(f"DROP TRIGGER follow_searched_{event} ON artifact_texts")
    op.execute(
        "DROP FUNCTION search_query(text), follow_searched_artifact(), follow_searched_text(),"
        " index_artifacts(uuid, uuid[]), searched_words(text, jsonb, text),"
        " search_cut(text, int), search_mark(text, uuid), search_configuration(text),"
        " search_language(text)"
    )
    op.drop_table("artifact_search_backlog")
    op.drop_table("artifact_search")
    for name in sorted(set(LANGUAGES.values()), key=lambda name: name == "english"):
        op.execute(f"DROP TEXT SEARCH CONFIGURATION search_{name}")
        op.execute(f"DROP TEXT SEARCH DICTIONARY search_{name}_stem")
