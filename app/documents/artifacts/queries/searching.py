"""SQL of full-text search: what a query matches, and what is still to be indexed.

The words are PostgreSQL's own affair: triggers index them, `search_query` makes a query of what
somebody typed, for each language that the organization has documents in.
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
    String,
    Subquery,
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

from app.documents.artifacts.models import Artifact, ArtifactSearch, ArtifactSearchBacklog
from app.kit import db, tenancy
from app.kit.prepared import Prepared

BATCH = 100
"""Few enough that the largest documents take a fraction of the time limit of a statement."""

searchable = table(
    "searchable_artifacts",
    column("artifact_id", Uuid()),
    column("created_at", TIMESTAMP(timezone=True)),
    column("archived", Boolean()),
    column("vector", TSVECTOR()),
)


def searchable_at(of: Any) -> ColumnElement[datetime]:
    """Return the time by which an index orders what is searched.

    The index has an expression, so that no other query can use it: for rare words PostgreSQL would
    take it alone, and unpack the words of every document.
    """
    return func.timezone(literal_column("'UTC'"), of.created_at)


# Locked, so that nobody renames a document between its being read and its words' being written.
_INDEX = text(
    """
    WITH batch AS (
        SELECT id FROM artifacts
        WHERE organization_id = :org AND id > coalesce(CAST(:after AS uuid), :nothing)
        ORDER BY id LIMIT :most FOR NO KEY UPDATE
    )
    SELECT index_artifacts(:org, array_agg(id)), (array_agg(id ORDER BY id DESC))[1] AS last
    FROM batch HAVING count(*) > 0
    """
)
_NOTHING = UUID(int=0)
# Hyphens with no word right behind them are dashes. PostgreSQL takes each for a "not" of whatever
# comes next, and fails at more than 32 of them.
_DASHES = re.compile(r'(?<![^\s"!&|()])(?:-{2,}|-(?=[\s!&|()]|$))')


class Asked(NamedTuple):
    """A search: what was typed, and the query of the index (None matches nothing).

    `backlog`: some documents are not in the index yet.
    """

    typed: str
    tsquery: str | None
    backlog: bool


def ask(typed: str) -> Asked:
    """Return what words ask of the index."""
    # The index has composed letters, whatever the file or the keyboard makes of accents.
    typed = _DASHES.sub(" ", unicodedata.normalize("NFC", typed))
    row = _ASK.first(str(tenancy.current_organization_id()), typed)
    return Asked(typed, row.tsquery, row.backlog)


def matches(query: str) -> Subquery:
    """Return what `query` finds: columns id, created_at and archived of documents."""
    return found_by(ask(query))


def found_by(asked: Asked) -> Subquery:
    """Return what a search finds, as `matches` does."""
    # Behind a sub-select the query is no constant to the planner. If it were, PostgreSQL would read
    # the whole table for a common word, and unpack every vector, which it takes for cheap.
    unknown = select(cast(asked.tsquery, TSQUERY)).scalar_subquery()
    indexed = select(
        searchable.c.artifact_id.label("id"), searchable.c.created_at, searchable.c.archived
    ).where(searchable.c.vector.bool_op("@@")(unknown))
    if not asked.backlog:
        return indexed.subquery("found")
    return union_all(indexed, _of_old(asked.typed)).subquery("found")


_ASKED: Any = select(
    cast(func.search_query(bindparam("query", type_=String)), String).label("tsquery"),
    select(ArtifactSearchBacklog.organization_id)
    .where(ArtifactSearchBacklog.organization_id == bindparam("organization_id"))
    .exists()
    .label("backlog"),
)
_ASK = Prepared.from_select("ask_search", _ASKED, organization_id="uuid", query="text")


def _of_old(query: str) -> Any:
    """Select what the old vectors find of documents that are not in the index yet."""
    called = func.search_backlog(query)
    old = called.table_valued(column("id", Uuid()), name="old").render_derived()
    done = exists().where(
        ArtifactSearch.organization_id == Artifact.organization_id,
        ArtifactSearch.artifact_id == Artifact.id,
    )
    documents = select(Artifact.id, Artifact.created_at, Artifact.archived)
    return documents.join(old, old.c.id == Artifact.id).where(~done)


def backlog() -> list[UUID]:
    """Return the ids of all organizations whose documents must be indexed again."""
    return list(db.session().scalars(select(ArtifactSearchBacklog.organization_id)))


def index_batch() -> bool:
    """Index some documents of the bound organization's backlog; False when nothing is left."""
    statement = select(ArtifactSearchBacklog).with_for_update()
    statement = statement.execution_options(populate_existing=True)
    waiting = db.session().execute(statement).scalar_one_or_none()
    if waiting is None:
        return False
    values = {
        "org": tenancy.current_organization_id(),
        "after": waiting.after,
        "nothing": _NOTHING,
        "most": BATCH,
    }
    done = db.session().execute(_INDEX, values).first()
    if done is None:
        db.session().delete(waiting)
    else:
        waiting.after = done.last
    db.session().flush()
    return done is not None
