"""Rows and statements of the release with revision 202611211100.

The statements are copied from its code and must not change: its instances keep running during the
migrations of the next release.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import psycopg2
from psycopg2.extras import Json

OPTIONS = (
    "-c role=labeling_app -c timezone=UTC -c statement_timeout=30s -c lock_timeout=5s"
    " -c idle_in_transaction_session_timeout=120s -c jit=off"
)
"""The connection options of that release, except for the lock timeout, which was 10 s."""

ORGANIZATION = """
INSERT INTO organizations (id, slug, name, settings, status, plan, created_at, updated_at, revision)
VALUES (%(org)s, %(org)s, 'Made of SQL', '{}', 'active', 'free', now(), now(), 1);
INSERT INTO users (id, email, name, locale, time_zone, token_version, created_at, updated_at,
    revision)
SELECT one, one || '@old.example', 'Labeler', 'en', 'UTC', 0, now(), now(), 1
FROM unnest(CAST(%(people)s AS uuid[])) AS one;
INSERT INTO memberships (organization_id, user_id, role, created_at)
SELECT %(org)s, one, 'labeler', now() FROM unnest(CAST(%(people)s AS uuid[])) AS one;
INSERT INTO schemas (organization_id, id, name, document_type, description, guidelines,
    review_policy, fields, status, ai_assist_enabled, current_version_id, current_version_number,
    created_at, updated_at, revision)
VALUES (%(org)s, %(schema)s, 'Invoice', 'invoice', '', '', '{"labels_per_artifact": 2}', '[]',
    'published', false, %(schema)s, 1, now(), now(), 1);
INSERT INTO schema_versions (organization_id, id, schema_id, number, fields, review_policy,
    published_at, changes, breaking, created_at, updated_at)
VALUES (%(org)s, %(schema)s, %(schema)s, 1, '[]', '{"labels_per_artifact": 2}', now(), '[]', false,
    now(), now());
"""
# Of eight documents one is assigned, two have a label set that waits for a review, one a draft that
# was sent back.
DOCUMENTS = """
CREATE TEMPORARY TABLE made AS
SELECT gen_random_uuid() AS id, n, (CAST(%(people)s AS uuid[]))[1 + n %% 5] AS person
FROM generate_series(1, %(documents)s) AS n;
INSERT INTO artifacts (organization_id, id, name, schema_id, metadata, priority, due_at, gold,
    archived, media_type, size_bytes, sha256, page_count, language, text_length, status, assignees,
    label_counts, created_at, updated_at, revision)
SELECT %(org)s, id, 'bill_' || n || '.txt', %(schema)s, '{}', n %% 100,
    CASE WHEN n %% 3 = 0 THEN now() + n * interval '1 minute' END, false, n %% 50 = 0, 'text/plain',
    10, id || '-of-old', 1, 'en', 10,
    CASE WHEN n %% 8 IN (1, 2, 3) THEN 'in_progress' ELSE 'ready' END,
    CASE WHEN n %% 8 = 0 THEN jsonb_build_array(jsonb_build_object('user_id', person))
         ELSE '[]' END,
    jsonb_build_object('draft', CAST(n %% 8 = 3 AS int),
        'submitted', CAST(n %% 8 IN (1, 2) AS int), 'accepted', 0, 'rejected', 0),
    now() - n * interval '1 second', now(), 1
FROM made;
INSERT INTO artifact_texts (organization_id, artifact_id, text, search)
SELECT %(org)s, id, 'the bills of month ' || n,
    to_tsvector('simple', 'bill_' || n || '.txt the bills of month ' || n)
FROM made;
INSERT INTO tag_sets (organization_id, id, artifact_id, schema_id, schema_version_id, labeler_id,
    source, tags, status, submitted_at, reason, seconds_spent, comment_count, rejections,
    review_rank, escalated, flags, created_at, updated_at, revision)
SELECT %(org)s, id, id, %(schema)s, %(schema)s, person, 'human', '[]',
    CASE WHEN n %% 8 = 3 THEN 'draft' ELSE 'submitted' END, now(),
    CASE WHEN n %% 8 = 3 THEN 'Look again.' END, 1, 0, 0, n, false, '[]', now(), now(), 1
FROM made WHERE n %% 8 IN (1, 2, 3);
INSERT INTO tag_set_revisions
    (organization_id, tag_set_id, number, tags, author_id, kind, created_at)
SELECT organization_id, id, 1, tags, labeler_id, 'create', created_at
FROM tag_sets WHERE organization_id = %(org)s;
DROP TABLE made;
"""

CREATE = """
WITH made AS (
    INSERT INTO artifacts (organization_id, id, name, schema_id, metadata, priority, gold, archived,
        media_type, size_bytes, sha256, text_length, status, assignees, label_counts, created_at,
        updated_at, revision)
    VALUES (%(org)s, %(document)s, 'Letter', %(schema)s, '{}', 50, false, false, 'text/plain', 10,
        CAST(%(document)s AS text), 0, 'processing', '[]',
        '{"draft": 0, "submitted": 0, "accepted": 0, "rejected": 0}', now(), now(), 1)
    ON CONFLICT (organization_id, sha256) DO NOTHING RETURNING organization_id, id
), worded AS (
    INSERT INTO artifact_texts (organization_id, artifact_id, text, search)
    SELECT organization_id, id, '', to_tsvector('simple', 'Letter') FROM made
)
SELECT id FROM made
"""
LOCK_DOCUMENT = """
SELECT id FROM artifacts WHERE organization_id = %(org)s AND id = %(document)s FOR NO KEY UPDATE
"""
# The text before the document: not the order in which a migration comes to the two tables.
FINISH = (
    """
    INSERT INTO artifact_texts (organization_id, artifact_id, text, search)
    VALUES (%(org)s, %(document)s, 'our letters', to_tsvector('simple', 'Letter our letters'))
    ON CONFLICT (organization_id, artifact_id)
        DO UPDATE SET text = excluded.text, search = excluded.search
    """,
    """
    UPDATE artifacts SET updated_at = now(), status = 'ready', page_count = 1, language = 'en',
        text_length = 11, failure = NULL
    WHERE organization_id = %(org)s AND id = %(document)s
    """,
)
DRAFT = """
INSERT INTO tag_sets (organization_id, id, artifact_id, schema_id, schema_version_id, labeler_id,
    source, tags, status, seconds_spent, comment_count, rejections, review_rank, escalated, flags,
    created_at, updated_at, revision)
VALUES (%(org)s, %(tag_set)s, %(document)s, %(schema)s, %(schema)s, %(person)s, 'human', '[]',
    'draft', 0, 0, 0, 0, false, '[]', now(), now(), 1)
"""
LOCK_LABEL_SET = """
SELECT t.id, a.priority FROM tag_sets t
JOIN artifacts a ON a.organization_id = t.organization_id AND a.id = t.artifact_id
WHERE t.organization_id = %(org)s AND t.id = %(tag_set)s FOR NO KEY UPDATE OF a, t
"""
SAVE = """
WITH saved AS (
    UPDATE tag_sets SET tags = %(tags)s, revision = revision + 1, updated_at = now()
    WHERE organization_id = %(org)s AND id = %(tag_set)s
    RETURNING revision, tags, updated_at
), noted AS (
    INSERT INTO tag_set_revisions
        (organization_id, tag_set_id, number, tags, author_id, kind, created_at)
    SELECT %(org)s, %(tag_set)s, revision, tags, %(person)s, 'save', updated_at FROM saved
), claimed AS (
    UPDATE artifacts
    SET claim_user_id = %(person)s, claim_expires_at = now() + make_interval(mins => 30)
    WHERE organization_id = %(org)s AND id = %(document)s
      AND (claim_user_id IS NULL OR claim_user_id = %(person)s OR claim_expires_at <= now())
)
SELECT revision FROM saved
"""
SUBMIT = """
UPDATE tag_sets SET status = 'submitted', submitted_at = now(), review_rank = 7,
    updated_at = now(), revision = revision + 1
WHERE organization_id = %(org)s AND id = %(tag_set)s
"""
RELEASE_CLAIM = """
UPDATE artifacts SET claim_user_id = NULL, claim_expires_at = NULL
WHERE organization_id = %(org)s AND id = %(document)s AND claim_user_id = %(person)s
"""
REFRESH = """
WITH counted AS (
    SELECT count(*) FILTER (WHERE status = 'draft') AS draft,
           count(*) FILTER (WHERE status = 'submitted') AS submitted,
           count(*) FILTER (WHERE status = 'accepted') AS accepted,
           count(*) FILTER (WHERE status = 'rejected') AS rejected
    FROM tag_sets WHERE organization_id = %(org)s AND artifact_id = %(document)s
)
UPDATE artifacts SET
    label_counts = jsonb_build_object('draft', draft, 'submitted', submitted,
                                      'accepted', accepted, 'rejected', rejected),
    status = CASE WHEN draft + submitted > 0 THEN 'in_progress' ELSE 'ready' END,
    updated_at = now()
FROM counted WHERE organization_id = %(org)s AND id = %(document)s RETURNING status
"""
URGE = """
UPDATE artifacts SET priority = 90, revision = revision + 1, updated_at = now()
WHERE organization_id = %(org)s AND id = %(document)s
"""
ASSIGN = """
UPDATE artifacts SET assignees = %(assignees)s, revision = revision + 1, updated_at = now()
WHERE organization_id = %(org)s AND id = %(document)s
"""
LIST = """
SELECT id, name, status, label_counts FROM artifacts
WHERE organization_id = %(org)s AND NOT archived ORDER BY created_at DESC, id DESC LIMIT 100
"""
TO_DO = """
SELECT artifact_id FROM artifact_assignees
WHERE organization_id = %(org)s AND assignee_id = %(person)s AND is_open LIMIT 100
"""
SEARCH = """
SELECT a.id FROM artifacts a JOIN search_artifacts(%(words)s) AS old (id) ON old.id = a.id
WHERE a.organization_id = %(org)s
"""


class Organization:
    """An organization of that release, with five users and a schema."""

    def __init__(self) -> None:
        self.id = str(uuid4())
        self.people = [str(uuid4()) for _ in range(5)]
        self.schema = str(uuid4())

    def fill(self, connection: Any, documents: int) -> None:
        """Insert the organization and its documents as the owner of the tables."""
        values = {**self.values(), "people": self.people, "documents": documents}
        with connection, connection.cursor() as cursor:
            cursor.execute(ORGANIZATION, values)
            cursor.execute(DOCUMENTS, values)
            cursor.execute("ANALYZE artifacts, tag_sets")

    def values(self, **more: Any) -> dict[str, Any]:
        """Return the parameters of statements."""
        return {"org": self.id, "schema": self.schema, "person": self.people[0], **more}


PAUSE_SECONDS = 0.05
"""Between two rounds, each of which takes as long: more would take the processors from what runs
beside them."""


class Instance(threading.Thread):
    """An instance of that release that works on documents until it is stopped.

    `failure` is the error of a statement, such as a lock timeout, a deadlock or a missing column.
    """

    def __init__(self, url: str, organization: Organization) -> None:
        super().__init__(daemon=True)
        self._url = url
        self._organization = organization
        self._stopped = threading.Event()
        self.rounds = 0
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Repeat rounds of work."""
        connection = psycopg2.connect(self._url, options=OPTIONS)
        try:
            while not self._stopped.is_set():
                self._round(connection)
                self.rounds += 1
                self._stopped.wait(PAUSE_SECONDS)
        except psycopg2.Error as failure:
            self.failure = failure
        finally:
            connection.close()

    def stop(self) -> None:
        """Stop after the current round."""
        self._stopped.set()
        self.join()

    @contextmanager
    def _transaction(self, connection: Any) -> Iterator[Any]:
        with connection, connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL app.organization_id = '{UUID(self._organization.id)}'")
            yield cursor

    def _round(self, connection: Any) -> None:
        """Create a document, label it, change its priority, assign it, and read lists."""
        values = self._organization.values(
            document=str(uuid4()), tag_set=str(uuid4()), tags=Json([]), words='"month 17"'
        )
        values["assignees"] = Json([{"user_id": values["person"]}])
        transactions = (
            (CREATE,),
            (LOCK_DOCUMENT, *FINISH),
            (LOCK_DOCUMENT, DRAFT, REFRESH),
            (LOCK_LABEL_SET, SAVE),
            (LOCK_LABEL_SET, SUBMIT, RELEASE_CLAIM, REFRESH),
            (LOCK_DOCUMENT, URGE),
            (LOCK_DOCUMENT, ASSIGN),
            (LIST,),
            (TO_DO,),
            (SEARCH,),
        )
        for statements in transactions:
            with self._transaction(connection) as cursor:
                for statement in statements:
                    cursor.execute(statement, values)
