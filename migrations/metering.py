"""Create triggers that meter the usage of organizations; used by migrations.

See `app.billing.usage`. Each meter sums a quantity over the rows of a table. For each statement,
triggers append the added and the removed quantities to `usage_changes`, in the same transaction.
`fold_usage` moves these changes into `usage_days`. The definitions are stored in `usage_sources`,
so that meters can be compared with the rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from alembic import op
from sqlalchemy import text

FOLDING_LOCK_KEY = 7_203_114_561
"""The key of `fold_usage`'s advisory lock. Settling a billing period takes it in shared mode."""
REPAIRING_LOCK_KEY = 7_203_114_562
"""The key of the advisory lock for repairing meters."""
TODAY = "CAST(timezone('UTC', now()) AS date)"
_INSERT_SOURCE = text(
    "INSERT INTO usage_sources (meter, table_name, quantity, created)"
    " VALUES (:meter, :table, :quantity, :created)"
)
_TRIGGER_FUNCTION = """
CREATE FUNCTION meter_{table}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN {insert}
    ELSE {delete}
    END IF;
    RETURN NULL;
END $$
"""
_INSERT_CHANGES = """
        INSERT INTO usage_changes (organization_id, meter, day, {column})
        SELECT c.organization_id, m.meter, {today}, m.quantity
        FROM (SELECT r.organization_id, {sums} FROM {rows} r GROUP BY r.organization_id) AS c
        CROSS JOIN LATERAL (VALUES {meters}) AS m (meter, quantity)
        WHERE m.quantity > 0;
"""
_UPDATE_FUNCTION = """
CREATE FUNCTION meter_{meter}_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO usage_changes (organization_id, meter, day, added, removed)
    VALUES (NEW.organization_id, '{meter}', {today}, greatest(({new}) - ({old}), 0),
        greatest(({old}) - ({new}), 0));
    RETURN NULL;
END $$
"""
# This trigger runs once per row, but only for rows whose quantity changes. A trigger per statement
# would run at every update of the table, because a trigger with transition tables cannot be limited
# to columns.
_UPDATE_TRIGGER = """
CREATE TRIGGER meter_{meter}_update AFTER UPDATE OF {column} ON {table}
FOR EACH ROW WHEN (({old}) <> ({new})) EXECUTE FUNCTION meter_{meter}_update()
"""


@dataclass(frozen=True)
class Source:
    """The definition of a meter, which sums `quantity` over the rows of a table.

    `quantity` is an SQL expression for a whole number that is not negative; it calls the row `r`.
    `created` is the column with the time from which a row counts. `quantity_column` is the column
    on which the quantity depends, or None if the quantity of a row never changes.
    """

    meter: str
    quantity: str = "1"
    created: str = "created_at"
    quantity_column: str | None = None


def metered(table: str, *sources: Source) -> None:
    """Meter the rows of `table` from now on; `live.fill_meters` adds the existing rows."""
    connection = op.get_bind()
    for source in sources:
        values = {"meter": source.meter, "table": table, "quantity": source.quantity}
        connection.execute(_INSERT_SOURCE, {**values, "created": source.created})
    insert = _build_insert("added", "new_rows", sources)
    delete = _build_insert("removed", "old_rows", sources)
    op.execute(_TRIGGER_FUNCTION.format(table=table, insert=insert, delete=delete))
    for event, rows in (("insert", "NEW TABLE AS new_rows"), ("delete", "OLD TABLE AS old_rows")):
        op.execute(
            f"CREATE TRIGGER meter_{event} AFTER {event.upper()} ON {table}"
            f" REFERENCING {rows} FOR EACH STATEMENT EXECUTE FUNCTION meter_{table}()"
        )
    for source in sources:
        if source.quantity_column is not None:
            _create_update_trigger(table, source, source.quantity_column)


def _build_insert(column: str, rows: str, sources: Sequence[Source]) -> str:
    return _INSERT_CHANGES.format(
        column=column,
        rows=rows,
        today=TODAY,
        sums=", ".join(f"sum({source.quantity}) AS q{n}" for n, source in enumerate(sources)),
        meters=", ".join(f"('{source.meter}', c.q{n})" for n, source in enumerate(sources)),
    )


def _create_update_trigger(table: str, source: Source, column: str) -> None:
    values = {
        "table": table,
        "meter": source.meter,
        "column": column,
        "today": TODAY,
        "old": source.quantity.replace("r.", "OLD."),
        "new": source.quantity.replace("r.", "NEW."),
    }
    op.execute(_UPDATE_FUNCTION.format(**values))
    op.execute(_UPDATE_TRIGGER.format(**values))


__all__ = ["FOLDING_LOCK_KEY", "REPAIRING_LOCK_KEY", "TODAY", "Source", "metered"]
