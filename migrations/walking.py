"""Process a table in primary key order, a limited number of rows per transaction."""

# ruff: noqa: S608 - the SQL only contains text from migrations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Row, text

_SELECT_KEY_COLUMNS = text(
    "SELECT a.attname, format_type(a.atttypid, a.atttypmod)"
    " FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS part (number, place)"
    " JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = part.number"
    " WHERE i.indrelid = CAST(:table AS regclass) AND i.indisprimary ORDER BY part.place"
)


class Walk:
    """Changes the pending rows of a table, batch by batch; see `migrations.live.backfill`.

    `total` is the number of rows in the table, including rows that are not pending. Key values
    are read and passed as text, whatever their type.
    """

    def __init__(self, engine: Engine, table: str, change: str, pending: str, size: int) -> None:
        self._engine = engine
        self._table = table
        self._size = size
        self._last_key: Sequence[str] = ()
        with engine.connect() as connection:
            rows = connection.execute(_SELECT_KEY_COLUMNS, {"table": table})
            self._key_types = {str(row[0]): str(row[1]) for row in rows}
            self.total = int(connection.scalar(text(f"SELECT count(*) FROM {table}")) or 0)
        names = ", ".join(self._key_types)
        columns = [f"{table}.{name}" for name in self._key_types]
        self._columns = ", ".join(columns)
        # The texts get other names than the columns, so that ORDER BY refers to the columns.
        self._texts = ", ".join(
            f"CAST({name} AS text) AS key_{n}" for n, name in enumerate(columns)
        )
        lists = ", ".join(
            f"CAST(CAST(:{name} AS text[]) AS {type_}[])" for name, type_ in self._key_types.items()
        )
        keys = f"({names}) AS (SELECT * FROM unnest({lists}))"
        # `pending` may read other tables, so the planner must know that there are few rows. It can
        # see this from the join with the keys.
        self._lock = text(
            f"WITH batch {keys} SELECT {self._texts} FROM batch JOIN {table} USING ({names})"
            f" WHERE {pending} ORDER BY {self._columns} FOR NO KEY UPDATE OF {table}"
        )
        self._change = text(f"WITH batch {keys} {change}")

    def step(self) -> bool:
        """Change the pending rows among the next `size` rows of the table, and commit.

        One statement locks the rows before another changes them, so that the change sees what
        previous lock holders have written. A failure has no effect. Returns False at the end.
        """
        with self._engine.begin() as connection:
            keys = self._read_keys(connection)
            pending = connection.execute(self._lock, self._to_arrays(keys)).all() if keys else []
            if pending:
                connection.execute(self._change, self._to_arrays(pending))
        if keys:
            self._last_key = keys[-1]
        return len(keys) == self._size

    def _read_keys(self, connection: Connection) -> Sequence[Row[Any]]:
        """Return the keys of the next `size` rows as text."""
        values, condition = {}, ""
        if self._last_key:
            values = {f"after_{n}": k for n, k in zip(self._key_types, self._last_key, strict=True)}
            after = ", ".join(f"CAST(:after_{n} AS {k})" for n, k in self._key_types.items())
            condition = f"WHERE ({self._columns}) > ({after})"
        statement = (
            f"SELECT {self._texts} FROM {self._table} {condition}"
            f" ORDER BY {self._columns} LIMIT :limit"
        )
        return connection.execute(text(statement), {**values, "limit": self._size}).all()

    def _to_arrays(self, rows: Sequence[Row[Any]]) -> dict[str, list[str]]:
        columns = zip(*rows, strict=True)
        return {name: list(column) for name, column in zip(self._key_types, columns, strict=True)}
