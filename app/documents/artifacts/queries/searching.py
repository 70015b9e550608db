"""SQL queries for full-text search, and for indexing documents that must be indexed again.

PostgreSQL processes the text: triggers index the text of documents, and the SQL function
`search_query` builds a query from the user's search text for each language in which the
organization has documents.
"""

import re
import unicodedata
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    TIMESTAMP,
    Boolean,
    ColumnElement,
    Select,
    String,
    Subquery,
    TableClause,
    Uuid,
    bindparam,
    cast,
    column,
    exists,
    func,
    literal_column,
    select,
    table,
    text,
    union_all,
)
from sqlalchemy.dialects.postgresql import TSQUERY, TSVECTOR

from app.documents.artifacts.models.content import ArtifactSearch, ArtifactSearchBacklog
from app.documents.artifacts.models.documents import Artifact
from app.kit import db, tenancy
from app.kit.prepared import Prepared
from app.kit.tenancy import build_join

BATCH_SIZE = 100
"""The maximum number of documents indexed in one statement. Even with the largest documents, the
statement ends long before its timeout."""


def _build_view(name: str) -> TableClause:
    return table(
        name,
        column("artifact_id", Uuid()),
        column("created_at", TIMESTAMP(timezone=True)),
        column("archived", Boolean()),
        column("vector", TSVECTOR()),
    )


searchable_documents = _build_view("searchable_artifacts")
"""The searchable documents of the current organization."""
_search_hits = _build_view("search_hits")
"""A view of the documents in `searchable_documents`, for queries that use only the word index."""


def build_search_time(created_at: ColumnElement[Any]) -> ColumnElement[datetime]:
    """Return the creation time as the expression of the index `ix_artifact_search_time`.

    The index is on an expression so that no other query uses it: for rare words PostgreSQL would
    use this index alone, and unpack the words of every document.
    """
    return func.timezone(literal_column("'UTC'"), created_at)


# Locks the documents, so that none is renamed between reading it and writing its words.
_INDEX_BATCH = text(
    """
    WITH batch AS (
        SELECT id FROM artifacts
        WHERE organization_id = :org AND id > coalesce(CAST(:after AS uuid), :zero_id)
        ORDER BY id LIMIT :batch_size FOR NO KEY UPDATE
    )
    SELECT index_artifacts(:org, array_agg(id)), (array_agg(id ORDER BY id DESC))[1] AS last
    FROM batch HAVING count(*) > 0
    """
)
_ZERO_ID = UUID(int=0)
# Hyphens that are not directly before a word are dashes. PostgreSQL reads each as "not" before the
# next term, and fails with more than 32 dashes.
_DASHES = re.compile(r'(?<![^\s"!&|()])(?:-{2,}|-(?=[\s!&|()]|$))')


class SearchQuery(NamedTuple):
    """A search: the text that the user entered, normalized, and the index query built from it.

    If `tsquery` is None, the search matches no document. `has_backlog` is true if some documents
    are not in the index yet.
    """

    search_text: str
    tsquery: str | None
    has_backlog: bool


def build_query(search_text: str) -> SearchQuery:
    """Build the index query (tsquery) for a text that the user entered."""
    # The index has composed letters (NFC); files and keyboards may produce separate accents.
    search_text = _DASHES.sub(" ", unicodedata.normalize("NFC", search_text))
    row = _BUILD_QUERY.first(str(tenancy.current_organization_id()), search_text)
    return SearchQuery(search_text, row.tsquery, row.backlog)


def select_hits(query: SearchQuery, *, by_time: bool = False) -> Subquery:
    """Return a subquery of the documents that match a search: their id, created_at and archived.

    With `by_time`, the query may also use the index on time.
    """
    view = searchable_documents if by_time else _search_hits
    # The sub-select hides the constant query from the planner. For a common word in a constant,
    # PostgreSQL would read the whole table and unpack every vector, which it estimates as cheap.
    tsquery = select(cast(query.tsquery, TSQUERY)).scalar_subquery()
    indexed_hits = select(view.c.artifact_id.label("id"), view.c.created_at, view.c.archived).where(
        view.c.vector.bool_op("@@")(tsquery)
    )
    if not query.has_backlog:
        return indexed_hits.subquery("hits")
    return union_all(indexed_hits, _select_unindexed_hits(query.search_text)).subquery("hits")


_QUERY_COLUMNS: tuple[ColumnElement[Any], ...] = (
    cast(func.search_query(bindparam("query", type_=String)), String).label("tsquery"),
    select(ArtifactSearchBacklog.organization_id)
    .where(ArtifactSearchBacklog.organization_id == bindparam("organization_id"))
    .exists()
    .label("backlog"),
)
_BUILD_QUERY = Prepared.from_select(
    "build_search_query", select(*_QUERY_COLUMNS), organization_id="uuid", query="text"
)


def _select_unindexed_hits(search_text: str) -> Select[UUID, datetime, bool]:
    """Select the matching documents that are not in the index yet, by their legacy vectors."""
    search = func.search_backlog(search_text)
    legacy_hits = search.table_valued(column("id", Uuid()), name="legacy_hits").render_derived()
    is_indexed = exists().where(build_join(ArtifactSearch.artifact_id, Artifact))
    documents = select(Artifact.id, Artifact.created_at, Artifact.archived)
    return documents.join(legacy_hits, legacy_hits.c.id == Artifact.id).where(~is_indexed)


def list_organization_ids_with_backlog() -> list[UUID]:
    """Return the ids of all organizations with a backlog of documents to index again."""
    return list(db.session().scalars(select(ArtifactSearchBacklog.organization_id)))


def index_batch() -> bool:
    """Index the next documents in the backlog of the current organization, and return True.

    If no documents remain, deletes the backlog, if any, and returns False.
    """
    statement = select(ArtifactSearchBacklog).with_for_update()
    statement = statement.execution_options(populate_existing=True)
    backlog = db.session().execute(statement).scalar_one_or_none()
    if backlog is None:
        return False
    values = {
        "org": tenancy.current_organization_id(),
        "after": backlog.after,
        "zero_id": _ZERO_ID,
        "batch_size": BATCH_SIZE,
    }
    batch = db.session().execute(_INDEX_BATCH, values).first()
    if batch is None:
        db.session().delete(backlog)
    else:
        backlog.after = batch.last
    db.session().flush()
    return batch is not None
