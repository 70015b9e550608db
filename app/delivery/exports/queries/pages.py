"""SQL queries that read document pages from the database snapshot of an export."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from psycopg2 import extensions
from sqlalchemy import Connection

from app.kit import tenancy

_PAGE_FETCH_SIZE = 8
"""The maximum number of pages in memory at a time; a page can have 100,000 words."""

# Documents are looked up one by one, in the order of their positions. Nothing is sorted, because
# the words would not fit in PostgreSQL's sort memory. The text of a document is selected only if
# the words must be laid out from it, and only with the first page.
_PAGES = """
SELECT o.position - 1, p.*
FROM unnest(CAST(%(artifact_ids)s AS uuid[])) WITH ORDINALITY AS o (artifact_id, position),
LATERAL (
    SELECT a.number, a.width, a.height, a.start, a."end", {words}
    FROM artifact_pages a
    WHERE a.organization_id = CAST(%(organization_id)s AS uuid) AND a.artifact_id = o.artifact_id
    ORDER BY a.number
    OFFSET 0
) p
"""
_NO_WORDS = "NULL AS words, NULL AS text"
_WORDS = """CAST(a.words AS text) AS words,
        CASE WHEN a.words IS NULL AND a.number = 1 THEN (
            SELECT x.text FROM artifact_texts x
            WHERE x.organization_id = a.organization_id AND x.artifact_id = a.artifact_id
        ) END AS text"""

_PAGE_TEXT = """
SELECT substr(x.text, a.start + 1, a."end" - a.start)
FROM artifact_pages a
JOIN artifact_texts x USING (organization_id, artifact_id)
WHERE a.organization_id = CAST(%(organization_id)s AS uuid)
    AND a.artifact_id = CAST(%(artifact_id)s AS uuid) AND a.number = %(number)s
    AND a.words IS NULL AND a."end" > a.start
"""


class PageRow(NamedTuple):
    """A page of a document; `start` and `end` are offsets in the document's text.

    `position` is the index of the document in the requested `artifact_ids`. `words` is JSON, or
    None if words were not requested, or if the words must be laid out from the document's text. In
    the latter case, the document's text is in `text` of the first page.
    """

    position: int
    number: int
    width: float
    height: float
    start: int
    end: int
    words: str | None
    text: str | None


class PageReader:
    """Reads document pages on a separate connection, `_PAGE_FETCH_SIZE` pages at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def iterate_pages(
        self, artifact_ids: Sequence[str | None], *, with_words: bool
    ) -> Iterator[PageRow]:
        """Yield the pages of documents, sorted as in `artifact_ids` and then by page number."""
        connection = self._connection.connection.driver_connection
        assert isinstance(connection, extensions.connection)
        values: dict[str, Any] = {
            "artifact_ids": list(artifact_ids),
            "organization_id": str(tenancy.current_organization_id()),
        }
        statement = _PAGES.format(words=_WORDS if with_words else _NO_WORDS)
        last_key = (0, 0)
        with connection.cursor(name="export_pages") as cursor:
            cursor.itersize = _PAGE_FETCH_SIZE
            cursor.execute(statement, values)
            for page_values in cursor:
                row = PageRow._make(page_values)
                if row[:2] <= last_key:
                    raise RuntimeError("PostgreSQL returned the pages in an unexpected order")
                last_key = row[:2]
                yield row

    def read_page_text(self, artifact_id: str, number: int) -> str | None:
        """Return a page's text, or None if the text is empty or the page has stored words."""
        values = {
            "organization_id": str(tenancy.current_organization_id()),
            "artifact_id": artifact_id,
            "number": number,
        }
        text: str | None = self._connection.exec_driver_sql(_PAGE_TEXT, values).scalar()
        return text
