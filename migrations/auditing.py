"""Create the triggers that write the audit log; used by migrations.

A trigger runs once per statement, regardless of the number of changed rows, and writes an entry for
each row whose watched columns changed, in one set-based insert. Each table has its own function,
generated from its columns, because a generic function that parses rows as JSON takes twenty times
as long. The functions run as their owner; the application's role may only read the log.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from alembic import op
from sqlalchemy import Connection, text

NO_ORGANIZATION_ID = "00000000-0000-0000-0000-000000000000"
"""The organization id in entries about records that belong to no organization."""
MAX_ENTRIES_PER_ROW = 1000
"""The maximum number of entries in one row of `audit_unsealed`, the hash chain's queue."""

_IGNORED_COLUMNS = frozenset({"created_at", "updated_at", "revision"})
# Columns with these names contain secrets, so their values are never shown.
_NAME_PATTERN = "(password|secret|token|api_key|private_key|credentials?)"
_SECRET_COLUMN = re.compile(f"(^|_){_NAME_PATTERN}(_hash|_encrypted)?$|_hash$")
_SHORT_TYPES = {"uuid", "boolean", "integer", "bigint", "smallint", "numeric", "date"}
_NO_ID = "CAST(NULL AS uuid)"
_TIME_FORMAT = r'\"YYYY-MM-DD"T"HH24:MI:SS.US"Z"\"'

_TRIGGER_FUNCTION = """
CREATE OR REPLACE FUNCTION audit_{table}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
    actor jsonb;
    verb text := lower(TG_OP);
    moment timestamptz := clock_timestamp();
    microseconds bigint;
BEGIN
    -- Most statements that change what is ignored change nothing else.
    IF TG_OP = 'UPDATE' THEN
        IF NOT EXISTS (SELECT FROM {pairs} WHERE {differ}) THEN
            RETURN NULL;
        END IF;
    END IF;
    actor := coalesce(nullif(current_setting('app.actor', true), ''), '{{}}');
    microseconds := extract(epoch FROM moment) * 1000000;
    IF actor ->> 'own' = '{kind}' THEN
        verb := actor ->> 'verb';
    ELSIF verb = 'insert' THEN
        verb := 'create';
    END IF;
    IF TG_OP = 'INSERT' THEN {insert}
    ELSIF TG_OP = 'UPDATE' THEN {update}
    ELSE {delete}
    END IF;
    RETURN NULL;
END $$
"""
_INSERT_ENTRIES = """
        WITH compared AS MATERIALIZED (
            SELECT {organization} AS organization_id, {target} AS target_id,
                {label} AS target_label, concat_ws(', ', {changes}) AS changes
            FROM {rows}
        ), changed AS (
            SELECT c.*, microseconds + row_number() OVER () AS tick
            FROM compared c WHERE c.changes <> ''
        ), written AS (
            INSERT INTO audit_entries (id, organization_id, at, actor_kind, actor_id, actor_label,
                operation, action, target_type, target_id, target_label, changes, request_id,
                ip_address)
            SELECT
                audit_id(c.tick),
                coalesce(c.organization_id, '{nobody}'), moment,
                coalesce(actor ->> 'kind', 'system'), CAST(actor ->> 'id' AS uuid),
                coalesce(actor ->> 'label', 'database role ' || session_user),
                actor ->> 'operation', '{kind}.' || verb, '{kind}', c.target_id,
                left(c.target_label, 320), CAST('{{' || c.changes || '}}' AS jsonb),
                actor ->> 'request_id', actor ->> 'ip_address'
            FROM changed c
            RETURNING organization_id, id
        )
        INSERT INTO audit_unsealed (organization_id, entries)
        SELECT w.organization_id, array_agg(w.id ORDER BY w.id)
        FROM (SELECT r.*, (row_number() OVER () - 1) / {batch} AS batch FROM written r) w
        GROUP BY w.organization_id, w.batch;
"""
_REFERENCING = {
    "insert": "NEW TABLE AS new_rows",
    "update": "OLD TABLE AS old_rows NEW TABLE AS new_rows",
    "delete": "OLD TABLE AS old_rows",
}


_SAVE_WATCH = text(
    "INSERT INTO audit_watches (table_name, kind, label, target, secret, ignored)"
    " VALUES (:table, :kind, :label, :target, :secret, :ignored)"
    " ON CONFLICT (table_name) DO UPDATE SET kind = excluded.kind, label = excluded.label,"
    " target = excluded.target, secret = excluded.secret, ignored = excluded.ignored"
)
_SELECT_WATCH = text("SELECT * FROM audit_watches WHERE table_name = :table")
# Generated columns contain no information beyond the columns they are generated from.
_SELECT_COLUMNS = text(
    "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute"
    " WHERE attrelid = CAST(:table AS regclass) AND attnum > 0 AND NOT attisdropped"
    " AND attgenerated = '' ORDER BY attnum"
)
_SELECT_KEY_COLUMNS = text(
    "SELECT a.attname FROM pg_index i JOIN pg_attribute a"
    " ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)"
    " WHERE i.indrelid = CAST(:table AS regclass) AND i.indisprimary ORDER BY a.attnum"
)


@dataclass(frozen=True)
class _Watch:
    """The options that `audited` stored for a table, with its column types and key columns."""

    table: str
    kind: str
    label: str | None
    target: str
    secret_columns: frozenset[str]
    ignored_columns: frozenset[str]
    column_types: dict[str, str]
    key_columns: Sequence[str]

    @property
    def watched_columns(self) -> list[str]:
        return [column for column in self.column_types if column not in self.ignored_columns]

    def build_coalesce(self, column: str) -> str:
        return f'coalesce(n."{column}", o."{column}")'

    def build_label(self) -> str:
        if self.label is None:
            return "CAST(NULL AS text)"
        if self.label == "user_id":
            user_id = self.build_coalesce("user_id")
            return f"(SELECT u.email FROM users u WHERE u.id = {user_id})"  # noqa: S608 - a column
        return f"CAST({self.build_coalesce(self.label)} AS text)"

    def build_value(self, side: str, column: str) -> str:
        value, column_type = f'{side}."{column}"', self.column_types[column]
        if column in self.secret_columns or _SECRET_COLUMN.search(column):
            return f"""CASE WHEN {value} IS NULL THEN 'null' ELSE '{{"secret": true}}' END"""
        if column_type == "timestamp with time zone":
            return f"coalesce(to_char({value} AT TIME ZONE 'UTC', '{_TIME_FORMAT}'), 'null')"
        if column_type in _SHORT_TYPES:
            return f"coalesce(CAST(to_json({value}) AS text), 'null')"
        return f"audit_shown(CAST(to_json({value}) AS text))"

    def build_change(self, column: str) -> str:
        before, after = self.build_value("o", column), self.build_value("n", column)
        return (
            f'CASE WHEN n."{column}" IS DISTINCT FROM o."{column}" THEN '
            f"""'"{column}": [' || {before} || ', ' || {after} || ']' END"""
        )

    def build_insert(self, rows: str) -> str:
        organization = "organization_id" if "organization_id" in self.column_types else None
        if self.table == "organizations":
            organization = "id"
        return _INSERT_ENTRIES.format(
            organization=self.build_coalesce(organization) if organization else _NO_ID,
            # A target id is a UUID. The label identifies records without one, such as months.
            target=self.build_coalesce(self.target)
            if self.column_types[self.target] == "uuid"
            else _NO_ID,
            label=self.build_label(),
            changes=",\n".join(self.build_change(column) for column in self.watched_columns),
            rows=rows,
            nobody=NO_ORGANIZATION_ID,
            batch=MAX_ENTRIES_PER_ROW,
            kind=self.kind,
        )

    def build_function(self) -> str:
        # A full join is never executed as nested loops. If a key changes, the join contains the old
        # row and the new row, each without a counterpart, so both are recorded.
        keys_match = " AND ".join(f'n."{key}" = o."{key}"' for key in self.key_columns)
        pairs = f"new_rows n FULL JOIN old_rows o ON {keys_match}"
        join_nulls = f"LEFT JOIN {self.table} {{side}} ON false"
        return _TRIGGER_FUNCTION.format(
            table=self.table,
            kind=self.kind,
            insert=self.build_insert(f"new_rows n {join_nulls.format(side='o')}"),
            pairs=pairs,
            differ=" OR ".join(f'n."{c}" IS DISTINCT FROM o."{c}"' for c in self.watched_columns),
            update=self.build_insert(pairs),
            delete=self.build_insert(f"old_rows o {join_nulls.format(side='n')}"),
        )


def audited(
    table: str,
    *,
    label: str | None = None,
    secret: tuple[str, ...] = (),
    ignored: tuple[str, ...] = (),
    kind: str | None = None,
    target: str = "id",
) -> None:
    """Record every insert, update and delete on `table` in the audit log.

    `label` is the column that identifies a record to readers; if it is `user_id`, the email address
    of the user is shown. For `secret` columns, and for columns and JSON members whose names
    indicate a secret, the log only shows that they changed. Changes that only affect `ignored`
    columns, `created_at`, `updated_at` or `revision` are not recorded.

    `kind` is the type of record that the entries show, by default the table's name. If it differs
    from that name, the model's table must set `audited_as` in its info. `target` is the column with
    the record's id; if the table has no such column, the last column of the primary key is used.
    The id is only recorded if it is a UUID. Calling this again replaces the earlier options.
    """
    connection = op.get_bind()
    options = {
        "table": table,
        "kind": kind or table,
        "label": label,
        "target": target,
        "secret": list(secret),
        "ignored": list(ignored),
    }
    connection.execute(_SAVE_WATCH, options)
    install(connection, table)


def unaudited(table: str) -> None:
    """Stop recording changes to `table` in the audit log, and delete its stored options."""
    op.execute(f"DROP FUNCTION audit_{table}() CASCADE")
    statement = text("DELETE FROM audit_watches WHERE table_name = :table")
    op.get_bind().execute(statement, {"table": table})


def install(connection: Connection, table: str) -> None:
    """Create or replace the audit function and triggers of a table, for its current columns."""
    connection.exec_driver_sql(_read_watch(connection, table).build_function())
    connection.exec_driver_sql(f"REVOKE ALL ON FUNCTION audit_{table}() FROM PUBLIC")
    for event, tables in _REFERENCING.items():
        connection.exec_driver_sql(
            f"CREATE OR REPLACE TRIGGER audit_{event} AFTER {event.upper()} ON {table}"
            f" REFERENCING {tables} FOR EACH STATEMENT EXECUTE FUNCTION audit_{table}()"
        )


def refresh(connection: Connection) -> None:
    """Recreate outdated audit functions, such as those of tables with new columns.

    `env.py` calls this function after all migrations, and after each step of a downgrade.
    """
    if connection.scalar(text("SELECT to_regclass('audit_watches')")) is None:
        return
    for table in connection.scalars(text("SELECT table_name FROM audit_watches")).all():
        statement = text("SELECT prosrc FROM pg_proc WHERE proname = :name")
        source = connection.scalar(statement, {"name": f"audit_{table}"})
        function = _read_watch(connection, table).build_function()
        if source is None or f"$${source}$$" not in function:
            install(connection, table)


def _read_watch(connection: Connection, table: str) -> _Watch:
    watch = connection.execute(_SELECT_WATCH, {"table": table}).one()
    rows = connection.execute(_SELECT_COLUMNS, {"table": table})
    column_types = {str(row[0]): str(row[1]) for row in rows}
    key_columns = connection.scalars(_SELECT_KEY_COLUMNS, {"table": table}).all()
    # An entry has columns for the record's id and organization, so its changes omit them.
    identifiers = {"id", "organization_id"} & set(key_columns)
    return _Watch(
        table=table,
        kind=watch.kind,
        label=watch.label,
        target=watch.target if watch.target in column_types else key_columns[-1],
        secret_columns=frozenset(watch.secret),
        ignored_columns=_IGNORED_COLUMNS | set(watch.ignored) | identifiers,
        column_types=column_types,
        key_columns=key_columns,
    )
