"""Add sums of the daily quality aggregates by day, week and month, which triggers maintain.

A job computes the sums of the existing cells. Until then, `summed_at` is null and the sums are not
used.
"""

import sqlalchemy as sa
from alembic import op

from migrations.policies import protect

revision = "202612041001"
down_revision = "202612032001"
branch_labels = None
depends_on = None

SUMS = "quality_sums"
KEY = ("subject", "unit", "start", "name")
COUNTERS = (
    "submitted",
    "timed",
    "seconds",
    "accepted",
    "corrected",
    "rejected",
    "auto_accepted",
    "overturned",
    "compared",
    "agreement",
    "checked",
    "accuracy",
)
_EVENTS = {
    "insert": "NEW TABLE AS new_rows",
    "update": "OLD TABLE AS old_rows NEW TABLE AS new_rows",
    "delete": "OLD TABLE AS old_rows",
}
_COLUMNS = ", ".join(("organization_id", *KEY))
_NAMES = ", ".join(COUNTERS)
IS_EMPTY = " AND ".join(f"{name} = 0" for name in COUNTERS)
_IS_SAME = " AND ".join(f"s.{name} = c.{name}" for name in ("organization_id", *KEY))
_ROWS = """
    SELECT r.organization_id, r.subject, u.unit, u.start,
           CASE r.subject WHEN 'schema' THEN CAST(r.schema_id AS text) ELSE r.name END AS name,
           {counters}
    FROM {table} r
    CROSS JOIN LATERAL (VALUES
        ('day', r.day),
        ('week', r.day - CAST(extract(isodow FROM r.day) AS int) + 1),
        ('month', r.day - CAST(extract(day FROM r.day) AS int) + 1)) AS u (unit, start)
    WHERE r.subject IN ('schema', 'labeler', 'reviewer')
"""


def _select_rows(table: str, sign: str = "") -> str:
    counters = ", ".join(f"{sign}r.{name} AS {name}" for name in COUNTERS)
    return _ROWS.format(table=table, counters=counters)


def _select_changes(*rows: str) -> str:
    sums = ", ".join(f"CAST(sum({name}) AS bigint) AS {name}" for name in COUNTERS)
    return (
        f"SELECT {_COLUMNS}, {sums} FROM ({' UNION ALL '.join(rows)}) AS r GROUP BY {_COLUMNS}"
        f" HAVING {' OR '.join(f'sum({name}) <> 0' for name in COUNTERS)}"
    )


NEW, OLD = _select_rows("new_rows"), _select_rows("old_rows", "-")
# Concurrent transactions change sums in the order of their keys.
ADD = f"""
    INSERT INTO {SUMS} AS s ({_COLUMNS}, {_NAMES})
    SELECT * FROM ({{changes}}) AS c ORDER BY {_COLUMNS}
    ON CONFLICT ({_COLUMNS}) DO UPDATE
    SET {", ".join(f"{name} = s.{name} + excluded.{name}" for name in COUNTERS)};
"""
# Inserts no rows, because the cells may be deleted together with their organization.
SUBTRACT = f"""
    UPDATE {SUMS} s SET {", ".join(f"{name} = s.{name} + c.{name}" for name in COUNTERS)}
    FROM ({_select_changes(OLD)}) AS c WHERE {_IS_SAME};
"""
# All empty sums are from this statement, because every statement deletes the sums that it empties.
DELETE_EMPTY = f"""
    DELETE FROM {SUMS}
    WHERE organization_id = ANY (ARRAY(SELECT DISTINCT organization_id FROM old_rows))
      AND {IS_EMPTY};
"""
FUNCTION = f"""
CREATE FUNCTION sum_quality_cells() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN {ADD.format(changes=_select_changes(NEW))}
    ELSIF TG_OP = 'UPDATE' THEN {ADD.format(changes=_select_changes(NEW, OLD))} {DELETE_EMPTY}
    ELSE {SUBTRACT} {DELETE_EMPTY}
    END IF;
    RETURN NULL;
END $$
"""


def upgrade() -> None:
    op.create_table(
        SUMS,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("unit", sa.String(), nullable=False),
        sa.Column("start", sa.Date(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in COUNTERS),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=f"fk_{SUMS}_organization_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", *KEY, name=f"pk_{SUMS}"),
    )
    protect(SUMS)
    op.create_index(
        f"ix_{SUMS}_names", SUMS, ["organization_id", "subject", "name", "unit", "start"]
    )
    op.create_index(
        f"ix_{SUMS}_empty", SUMS, ["organization_id"], postgresql_where=sa.text(IS_EMPTY)
    )
    op.add_column(
        "quality_states", sa.Column("summed_at", sa.DateTime(timezone=True), nullable=True)
    )
    op.execute(FUNCTION)
    for event, tables in _EVENTS.items():
        op.execute(
            f"CREATE TRIGGER sum_{event} AFTER {event.upper()} ON quality_cells"
            f" REFERENCING {tables} FOR EACH STATEMENT EXECUTE FUNCTION sum_quality_cells()"
        )


def downgrade() -> None:
    op.execute("DROP FUNCTION sum_quality_cells() CASCADE")
    op.drop_column("quality_states", "summed_at")
    op.drop_table(SUMS)
