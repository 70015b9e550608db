"""SQL queries that stream the answers of labelers from one database snapshot."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import Connection

from app.kit import db, tenancy

_BATCH = 200
MAX_BYTES = 256 * 1024
"""The maximum size in bytes of the tags of a compared tag set, which bounds the memory for a batch.
Larger tag sets are left out."""
# A run may take minutes while requests are served, so it uses one core and has no timeout.
_SETTINGS = (
    "SET LOCAL statement_timeout = 0; SET LOCAL max_parallel_workers_per_gather = 0;"
    " SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL work_mem = '32MB'"
)
SUBMITTED_AT = "coalesce(t.submitted_at, t.decided_at, t.created_at)"
IS_ANSWER = "t.source = 'human' AND t.labeler_id IS NOT NULL AND t.status <> 'draft'"
"""The condition that the tag set `t` is the independent answer of one labeler."""
# A reviewer's correction replaces the tags, so the labeler's own tags are in the submission. Only
# tag sets that a reviewer has seen can have a correction.
OWN_TAGS = """
CASE WHEN t.reviewer_id IS NULL AND NOT t.reopened THEN t.tags
ELSE coalesce((
    SELECT r.tags FROM tag_set_revisions r
    WHERE r.organization_id = t.organization_id AND r.tag_set_id = t.id AND r.kind = 'submit'
    ORDER BY r.number DESC LIMIT 1), t.tags) END"""
"""The SQL expression for the tags of the tag set `t` as its labeler last submitted them."""
_PERIOD = f"""
({SUBMITTED_AT} >= coalesce(CAST(:starts_at AS timestamptz), '-infinity')
 AND {SUBMITTED_AT} < :ends_at)"""
_WHERE = f"""
t.organization_id = :organization_id AND t.schema_id = :schema_id
AND ({IS_ANSWER} AND {_PERIOD} OR t.status = 'accepted')"""
# S608: the parts are constants of this module.
_ANSWERS = tenancy.build_text(
    f"""
    SELECT t.artifact_id, a.text_length, CAST(t.labeler_id AS text) AS labeler_id,
        t.schema_version_id,
        {IS_ANSWER} AND {_PERIOD} AS is_answer,
        t.status = 'accepted' AND NOT a.gold AS is_accepted, t.source = 'merge' AS is_merge,
        t.decided_at, CAST({OWN_TAGS} AS text) AS own_tags,
        CASE WHEN t.status = 'accepted' AND NOT a.gold THEN CAST(t.tags AS text) END AS tags
    FROM tag_sets t
    JOIN artifacts a ON a.organization_id = t.organization_id AND a.id = t.artifact_id
    WHERE {_WHERE} AND t.tags_bytes <= {MAX_BYTES}
    ORDER BY t.artifact_id, t.labeler_id, {SUBMITTED_AT} DESC, t.id DESC
    """  # noqa: S608
)
_TAG_SET_COUNTS = tenancy.build_text(
    f"""
    SELECT count(*) FILTER (WHERE t.tags_bytes <= {MAX_BYTES}),
        count(*) FILTER (WHERE t.tags_bytes > {MAX_BYTES})
    FROM tag_sets t WHERE {_WHERE}
    """  # noqa: S608
)


class Answer(NamedTuple):
    """The tags that one labeler submitted for a document, or the document's accepted tags.

    `labeler_id` is empty for accepted tags.
    """

    labeler_id: str
    version_id: UUID
    tags: list[dict[str, Any]]


class DocumentAnswers(NamedTuple):
    """The answers for a document, one per labeler, and the accepted answer if it exists.

    `accepted_answer` is None for gold documents. `tag_set_count` is the number of tag sets read.
    """

    id: UUID
    answers: list[Answer]
    accepted_answer: Answer | None
    text_length: int
    tag_set_count: int


class AnswerSnapshot:
    """The answers for a schema in a period, and all its accepted tag sets, from one snapshot."""

    def __init__(
        self, connection: Connection, schema_id: UUID, starts_at: datetime | None, ends_at: datetime
    ) -> None:
        self._connection = connection
        self._values = {"schema_id": schema_id, "starts_at": starts_at, "ends_at": ends_at}
        counts = connection.execute(_TAG_SET_COUNTS, self._values).one()
        self.total = int(counts[0])
        """The number of tag sets that one pass over the snapshot reads."""
        self.too_large_count = int(counts[1])
        """The number of tag sets that are left out because of their size."""

    def iterate_documents(self) -> Iterator[DocumentAnswers]:
        """Yield all documents with answers or an accepted tag set, in the order of their ids."""
        tenancy.send_scope(self._connection)
        connection = self._connection.execution_options(stream_results=True, max_row_buffer=_BATCH)
        with connection.execute(_ANSWERS, self._values) as result:
            for artifact_id, group in groupby(result, key=attrgetter("artifact_id")):
                yield _build_document(artifact_id, list(group))


def _build_document(artifact_id: UUID, rows: Sequence[Any]) -> DocumentAnswers:
    newest_rows: dict[str, Any] = {}
    for row in rows:
        if row.is_answer:
            newest_rows.setdefault(row.labeler_id, row)  # Rows of a labeler come newest first.
    answers = [
        Answer(labeler_id, row.schema_version_id, orjson.loads(row.own_tags))
        for labeler_id, row in newest_rows.items()
    ]
    accepted_row = max(
        (row for row in rows if row.is_accepted),
        key=lambda row: (row.is_merge, row.decided_at is not None, row.decided_at),
        default=None,
    )
    accepted_answer = None
    if accepted_row is not None:
        accepted_answer = Answer(
            "", accepted_row.schema_version_id, orjson.loads(accepted_row.tags)
        )
    return DocumentAnswers(
        artifact_id, answers, accepted_answer, rows[0].text_length or 0, len(rows)
    )


@contextmanager
def open_snapshot(
    schema_id: UUID, starts_at: datetime | None, ends_at: datetime
) -> Iterator[AnswerSnapshot]:
    """Open a snapshot of the answers for a schema and period, on a separate connection."""
    connection = db.engine().connect()
    try:
        connection = connection.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
        tenancy.send_scope(connection)
        connection.exec_driver_sql(_SETTINGS)
        yield AnswerSnapshot(connection, schema_id, starts_at, ends_at)
    except BaseException:
        # An unfinished cursor must not return to the pool.
        connection.invalidate()
        raise
    finally:
        connection.close()
