"""Create triggers that maintain exact counts of rows; used by migrations.

See `app.kit.counters`. A *source* counts the rows of a table that meet a condition, grouped by
facets: texts computed from the columns. For each statement, triggers append one row to
`count_deltas` for each combination of facets whose count changes. `fold_counts` adds these changes
to the cells (`counts`) of the source's *cubes*; each cube groups by some of the facets. Sources and
cubes are stored in tables, so that every release folds in the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from alembic import op
from sqlalchemy import Connection, text

FOLDING_LOCK_KEY = 7_203_114_560
"""The key of the advisory lock that is held while changes are added to `counts`, or while `counts`
is repaired."""

_SAVE_SOURCE = text(
    "INSERT INTO count_sources (source, table_name, condition, facets, expressions, measure)"
    " VALUES (:source, :table, :condition, :facets, :expressions, :measure)"
)
_SAVE_CUBE = text(
    "INSERT INTO count_cubes (cube, source, key, bucket, bucket_length, facets)"
    " VALUES (:cube, :source, :key, :bucket, :length, :facets)"
)
_SELECT_SOURCES = text(
    "SELECT source, condition, expressions, measure FROM count_sources"
    " WHERE table_name = :table ORDER BY source"
)
_REFERENCING = {
    "insert": "NEW TABLE AS new_rows",
    "update": "OLD TABLE AS old_rows NEW TABLE AS new_rows",
    "delete": "OLD TABLE AS old_rows",
}
_TRIGGER_FUNCTION = """
CREATE OR REPLACE FUNCTION count_{table}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN {insert}
    ELSIF TG_OP = 'UPDATE' THEN {update}
    ELSE {delete}
    END IF;
    RETURN NULL;
END $$
"""
_INSERT_DELTAS = """
        INSERT INTO count_deltas (organization_id, source, facets, n, total)
        SELECT organization_id, '{source}', facets, sum(sign), sum(sign * measure)
        FROM ({rows}) AS changed
        GROUP BY organization_id, facets
        HAVING sum(sign) <> 0 OR sum(sign * measure) <> 0;
"""
_SELECT_ROWS = """
            SELECT r.organization_id, ARRAY[{facets}] AS facets, {measure} AS measure,
                   {sign} AS sign
            FROM {table} r WHERE {condition}"""


@dataclass(frozen=True)
class Cube:
    """A set of counts by some of a source's facets.

    Readers select counts by the facets `key` and `bucket`. The facet `bucket` is a time as text, of
    which only the first `length` characters are kept.
    """

    name: str
    facets: Sequence[str]
    key: str | None = None
    bucket: str | None = None
    length: int | None = None


@dataclass(frozen=True)
class Source:
    """The definition of counts of a table's rows; SQL expressions call the row `r`.

    Only rows that meet the SQL expression `condition` are counted. `facets` maps names to SQL
    expressions that return text, or '' for no value. `measure` is an SQL expression for a whole
    number; its sum is maintained in addition to the number of rows.
    """

    name: str
    facets: Mapping[str, str]
    cubes: Sequence[Cube]
    condition: str = "true"
    measure: str = "0"


def as_hour(column: str) -> str:
    """Return SQL that converts a time to a facet: the UTC hour that contains the time.

    An hour includes its end but not its start, so a row at exactly 05:00 counts for the hour from
    04:00 to 05:00. To count the rows that are due by 05:15, a reader adds up whole hours, and
    examines only the rows after 05:00.
    """
    return (
        f"""coalesce(to_char(({column} - interval '1 microsecond') AT TIME ZONE 'UTC',"""
        """ 'YYYY-MM-DD"T"HH24'), '')"""
    )


def as_text(column: str) -> str:
    """Return SQL that converts any value except a time to a facet."""
    return f"coalesce(CAST({column} AS text), '')"


def counted(table: str, *sources: Source) -> None:
    """Count the rows of `table` from now on; `live.recount` counts the existing rows.

    Call this again to add other sources for the same table.
    """
    connection = op.get_bind()
    for source in sources:
        _save_source(connection, table, source)
    _install(connection, table)


def uncounted(*sources: str) -> None:
    """Stop counting for these sources, and delete the sources and their counts."""
    connection = op.get_bind()
    for source in sources:
        table = connection.scalar(
            text("SELECT table_name FROM count_sources WHERE source = :s"), {"s": source}
        )
        cubes = connection.scalars(
            text("DELETE FROM count_cubes WHERE source = :s RETURNING cube"), {"s": source}
        ).all()
        for statement, value in (
            ("DELETE FROM counts WHERE cube = ANY (:v)", list(cubes)),
            ("DELETE FROM count_deltas WHERE source = :v", source),
            ("DELETE FROM count_sources WHERE source = :v", source),
        ):
            connection.execute(text(statement), {"v": value})
        _install(connection, str(table))


def _save_source(connection: Connection, table: str, source: Source) -> None:
    names = list(source.facets)

    def get_position(facet: str | None) -> int | None:
        return None if facet is None else names.index(facet) + 1

    connection.execute(
        _SAVE_SOURCE,
        {
            "source": source.name,
            "table": table,
            "condition": source.condition,
            "facets": names,
            "expressions": list(source.facets.values()),
            "measure": source.measure,
        },
    )
    for cube in source.cubes:
        values = {
            "cube": cube.name,
            "source": source.name,
            "key": get_position(cube.key),
            "bucket": get_position(cube.bucket),
            "length": cube.length,
            "facets": [get_position(facet) for facet in cube.facets],
        }
        connection.execute(_SAVE_CUBE, values)


def _install(connection: Connection, table: str) -> None:
    """Create, replace or drop a table's counting function and triggers, as its sources require."""
    sources = connection.execute(_SELECT_SOURCES, {"table": table}).all()
    if not sources:
        connection.exec_driver_sql(f"DROP FUNCTION count_{table}() CASCADE")
        return

    def build_appends(*rows: tuple[str, int]) -> str:
        return "".join(
            _INSERT_DELTAS.format(
                source=source.source,
                rows=" UNION ALL ".join(
                    _SELECT_ROWS.format(
                        facets=", ".join(source.expressions),
                        measure=source.measure,
                        sign=sign,
                        table=name,
                        condition=source.condition,
                    )
                    for name, sign in rows
                ),
            )
            for source in sources
        )

    connection.exec_driver_sql(
        _TRIGGER_FUNCTION.format(
            table=table,
            insert=build_appends(("new_rows", 1)),
            update=build_appends(("new_rows", 1), ("old_rows", -1)),
            delete=build_appends(("old_rows", -1)),
        )
    )
    for event, tables in _REFERENCING.items():
        connection.exec_driver_sql(
            f"CREATE OR REPLACE TRIGGER count_{event} AFTER {event.upper()} ON {table}"
            f" REFERENCING {tables} FOR EACH STATEMENT EXECUTE FUNCTION count_{table}()"
        )


__all__ = ["Cube", "Source", "as_hour", "as_text", "counted", "uncounted"]
