"""Add usage meters, which triggers maintain, and the versions of plans that are in use.

See `migrations/metering.py`.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.metering import FOLDING_LOCK_KEY, REPAIRING_LOCK_KEY, TODAY, Source, metered
from migrations.policies import ROLE, protect

revision = "202612031000"
down_revision = "202612030504"
branch_labels = None
depends_on = None

XACT = "CAST(CAST(pg_current_xact_id() AS text) AS bigint)"
CHANGES, DAYS, SETTLEMENTS = "usage_changes", "usage_days", "usage_settlements"
SOURCES, HORIZON, WARNINGS, VERSIONS = (
    "usage_sources",
    "usage_horizon",
    "usage_warnings",
    "plan_versions",
)
# Documents come first, because the service also locks the tables in this order.
METERS = {
    "artifacts": (Source("documents_per_month"), Source("stored_bytes", "r.size_bytes")),
    "prediction_usage": (Source("ai_pages_per_month", "r.pages", "completed_at"),),
    "schemas": (
        Source(
            "active_schemas",
            "CASE WHEN r.status = 'active' THEN 1 ELSE 0 END",
            quantity_column="status",
        ),
    ),
    "connectors": (Source("connectors"),),
    "webhooks": (
        Source(
            "webhooks",
            "CASE WHEN r.deleted_at IS NULL THEN 1 ELSE 0 END",
            quantity_column="deleted_at",
        ),
    ),
    "memberships": (Source("members"),),
}
UPDATED = ("active_schemas", "webhooks")

# A change that was committed after its day was settled counts on the first day that is not settled.
EFFECTIVE_DAY = """
CREATE FUNCTION get_usage_day(day date, xact bigint, until date, snapshot text) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN until IS NULL OR day >= until OR pg_visible_in_snapshot(
        CAST(CAST(xact AS text) AS xid8), CAST(snapshot AS pg_snapshot)) THEN day
    ELSE until END
"""
# The lock prevents folds, so that no late change is folded into a day that is being settled. Before
# the next settlement, changes that were too late for the previous settlement get the day on which
# they count.
SETTLE = f"""
CREATE FUNCTION settle_usage(organization uuid, until_day date) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared({FOLDING_LOCK_KEY});
    UPDATE {CHANGES} c SET day = s.until FROM {SETTLEMENTS} s
    WHERE c.organization_id = organization AND s.organization_id = organization
      AND c.day <> get_usage_day(c.day, c.xact, s.until, s.snapshot);
    INSERT INTO {SETTLEMENTS} AS s (organization_id, until, snapshot)
    VALUES (organization, until_day, CAST(pg_current_snapshot() AS text))
    ON CONFLICT (organization_id) DO UPDATE SET until = excluded.until,
        snapshot = excluded.snapshot WHERE s.until < excluded.until;
END $$
"""  # noqa: S608 - made of constants
# Changes of organizations that are being erased are dropped. A reader starts at the horizon, so
# that it skips folded changes that cannot be vacuumed yet.
FOLD = f"""
CREATE FUNCTION fold_usage(most int, OUT folded int, OUT changed uuid[]) LANGUAGE plpgsql AS $$
DECLARE
    reached bigint := CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint);
    sums jsonb;
    one record;
BEGIN
    folded := 0;
    changed := '{{}}';
    IF NOT pg_try_advisory_xact_lock({FOLDING_LOCK_KEY}) THEN
        RETURN;
    END IF;
    WITH taken AS (
        DELETE FROM {CHANGES}
        WHERE ctid = ANY (ARRAY(SELECT ctid FROM {CHANGES} LIMIT most))
        RETURNING organization_id, meter, day, added, removed, xact
    ), summed AS (
        SELECT c.organization_id, c.meter, get_usage_day(c.day, c.xact, s.until, s.snapshot) AS day,
               sum(c.added) AS added, sum(c.removed) AS removed
        FROM taken c
        JOIN organizations o ON o.id = c.organization_id AND o.erasure IS NULL
        LEFT JOIN {SETTLEMENTS} s ON s.organization_id = c.organization_id
        GROUP BY 1, 2, 3
    )
    SELECT (SELECT count(*) FROM taken), coalesce(array_agg(DISTINCT summed.organization_id)
               FILTER (WHERE summed.organization_id IS NOT NULL), '{{}}'),
           jsonb_agg(to_jsonb(summed) ORDER BY summed.day)
    INTO folded, changed, sums FROM summed;
    FOR one IN
        SELECT * FROM jsonb_to_recordset(coalesce(sums, '[]')) AS one (
            organization_id uuid, meter text, day date, added bigint, removed bigint)
    LOOP
        INSERT INTO {DAYS} AS d (organization_id, meter, day, added, removed, level)
        VALUES (one.organization_id, one.meter, one.day, one.added, one.removed,
            one.added - one.removed + coalesce((
                SELECT b.level FROM {DAYS} b
                WHERE b.organization_id = one.organization_id AND b.meter = one.meter
                  AND b.day < one.day ORDER BY b.day DESC LIMIT 1), 0))
        ON CONFLICT (organization_id, meter, day) DO UPDATE SET added = d.added + excluded.added,
            removed = d.removed + excluded.removed, level = d.level + one.added - one.removed;
        UPDATE {DAYS} SET level = level + one.added - one.removed
        WHERE organization_id = one.organization_id AND meter = one.meter AND day > one.day
          AND one.added <> one.removed;
    END LOOP;
    IF folded < most AND current_setting('app.all_organizations', true) = 'on' THEN
        UPDATE {HORIZON} SET xact = reached WHERE xact <> reached;
    END IF;
END $$
"""  # noqa: S608 - made of constants
# Each meter is compared in one statement, and so in one snapshot, even if others write or fold.
DIFFERENCES = f"""
CREATE FUNCTION usage_differences(organization uuid)
RETURNS TABLE (meter text, counted bigint, metered bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    source {SOURCES};
BEGIN
    FOR source IN SELECT * FROM {SOURCES} ORDER BY meter LOOP
        RETURN QUERY EXECUTE format($sql$
            SELECT $2, CAST(rows.n AS bigint), CAST(meter.n AS bigint)
            FROM (SELECT coalesce(sum(%s), 0) AS n FROM %I r WHERE r.organization_id = $1) AS rows,
                 (SELECT coalesce(sum(added - removed), 0) AS n FROM (
                     SELECT added, removed FROM {DAYS} WHERE organization_id = $1 AND meter = $2
                     UNION ALL
                     SELECT added, removed FROM {CHANGES} WHERE organization_id = $1 AND meter = $2
                 ) AS parts) AS meter
            WHERE rows.n <> meter.n
        $sql$, source.quantity, source.table_name) USING organization, source.meter;
    END LOOP;
END $$
"""  # noqa: S608 - made of constants
# Missing quantities count on the days on which their rows were created, all other differences
# today.
REPAIR = f"""
CREATE FUNCTION repair_usage(organization uuid, repaired text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    source {SOURCES};
    difference bigint;
BEGIN
    PERFORM pg_advisory_xact_lock({REPAIRING_LOCK_KEY});
    SELECT * INTO STRICT source FROM {SOURCES} WHERE meter = repaired;
    EXECUTE format($sql$
        WITH counted AS MATERIALIZED (
            SELECT CAST(timezone('UTC', r.%I) AS date) AS day, sum(%s) AS n
            FROM %I r WHERE r.organization_id = $1 GROUP BY 1
        ), metered AS MATERIALIZED (
            SELECT day, sum(added) AS added, sum(removed) AS removed FROM (
                SELECT day, added, removed FROM {DAYS} WHERE organization_id = $1 AND meter = $2
                UNION ALL
                SELECT day, added, removed FROM {CHANGES} WHERE organization_id = $1 AND meter = $2
            ) AS parts GROUP BY day
        ), total AS (
            SELECT (SELECT coalesce(sum(n), 0) FROM counted)
                 - (SELECT coalesce(sum(added - removed), 0) FROM metered) AS n
        ), past AS (
            SELECT c.day, c.n - coalesce(m.added, 0) AS n
            FROM counted c LEFT JOIN metered m USING (day)
            WHERE c.day < {TODAY} AND c.n > coalesce(m.added, 0)
        ), changes AS (
            SELECT day, n FROM past
            UNION ALL
            SELECT {TODAY}, total.n - (SELECT coalesce(sum(n), 0) FROM past) FROM total
        ), written AS (
            INSERT INTO {CHANGES} (organization_id, meter, day, added, removed)
            SELECT $1, $2, changes.day, greatest(changes.n, 0), greatest(-changes.n, 0)
            FROM changes, total WHERE total.n <> 0 AND changes.n <> 0
        )
        SELECT CAST(n AS bigint) FROM total
    $sql$, source.created, source.quantity, source.table_name)
    INTO difference USING organization, repaired;
    RETURN difference;
END $$
"""  # noqa: S608 - made of constants
FORGET = f"""
CREATE FUNCTION forget_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM {CHANGES} WHERE organization_id = NEW.id;
    DELETE FROM {DAYS} WHERE organization_id = NEW.id;
    DELETE FROM {SETTLEMENTS} WHERE organization_id = NEW.id;
    RETURN NULL;
END $$
"""  # noqa: S608 - made of constants
ON_ERASURE = """
CREATE TRIGGER forget_usage AFTER UPDATE OF status ON organizations
FOR EACH ROW WHEN (NEW.status = 'erased') EXECUTE FUNCTION forget_usage()
"""


def upgrade() -> None:
    _create_definitions()
    _create_meters()
    _create_warnings()
    for statement in (EFFECTIVE_DAY, SETTLE, FOLD, DIFFERENCES, REPAIR, FORGET):
        op.execute(statement)
    for table, sources in METERS.items():
        metered(table, *sources)
    op.execute(ON_ERASURE)


def downgrade() -> None:
    op.execute("DROP FUNCTION forget_usage() CASCADE")
    for table in METERS:
        op.execute(f"DROP FUNCTION meter_{table}() CASCADE")
    for meter in UPDATED:
        op.execute(f"DROP FUNCTION meter_{meter}_update() CASCADE")
    op.execute(
        "DROP FUNCTION fold_usage(int), usage_differences(uuid), repair_usage(uuid, text),"
        " settle_usage(uuid, date), get_usage_day(date, bigint, date, text)"
    )
    for table in (VERSIONS, WARNINGS, SETTLEMENTS, HORIZON, CHANGES, DAYS, SOURCES):
        op.drop_table(table)


def _create_definitions() -> None:
    op.create_table(
        SOURCES,
        *(
            sa.Column(name, sa.Text(), nullable=False)
            for name in ("meter", "table_name", "quantity", "created")
        ),
        sa.PrimaryKeyConstraint("meter", name=f"pk_{SOURCES}"),
    )
    op.create_table(
        VERSIONS,
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("definition", postgresql.JSONB(), nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False
        ),
        sa.PrimaryKeyConstraint("name", "version", name=f"pk_{VERSIONS}"),
    )
    op.create_table(
        HORIZON,
        sa.Column("one", sa.Boolean(), server_default="true", nullable=False),
        sa.Column("xact", sa.BigInteger(), server_default="0", nullable=False),
        sa.CheckConstraint("one", name=op.f(f"ck_{HORIZON}_one")),
        sa.PrimaryKeyConstraint("one", name=f"pk_{HORIZON}"),
    )
    op.execute(f"INSERT INTO {HORIZON} DEFAULT VALUES")
    for table, rights in ((SOURCES, "SELECT"), (VERSIONS, "SELECT, INSERT")):
        op.execute(f"REVOKE ALL ON {table} FROM {ROLE}")
        op.execute(f"GRANT {rights} ON {table} TO {ROLE}")


def _create_meters() -> None:
    numbers = ("added", "removed")
    op.create_table(
        CHANGES,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("xact", sa.BigInteger(), server_default=sa.text(XACT), nullable=False),
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("meter", sa.Text(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), server_default="0", nullable=False) for name in numbers),
        sa.PrimaryKeyConstraint("organization_id", "xact", "id", name=f"pk_{CHANGES}"),
    )
    op.create_table(
        DAYS,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("meter", sa.Text(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in (*numbers, "level")),
        _reference_organization(DAYS),
        sa.PrimaryKeyConstraint("organization_id", "meter", "day", name=f"pk_{DAYS}"),
    )
    op.create_table(
        SETTLEMENTS,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("until", sa.Date(), nullable=False),
        sa.Column("snapshot", sa.Text(), nullable=False),
        _reference_organization(SETTLEMENTS),
        sa.PrimaryKeyConstraint("organization_id", name=f"pk_{SETTLEMENTS}"),
    )
    op.execute(f"ALTER TABLE {DAYS} SET (fillfactor = 70)")
    op.execute(
        f"ALTER TABLE {CHANGES} SET (autovacuum_vacuum_scale_factor = 0,"
        " autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0)"
    )
    for table in (DAYS, SETTLEMENTS):
        protect(table)
    # The policy must not apply to the owner, because foreign keys delete rows as the owner.
    protect(CHANGES, force=False)


def _create_warnings() -> None:
    op.create_table(
        WARNINGS,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("meter", sa.Text(), nullable=False),
        sa.Column("month", sa.Date(), nullable=False),
        sa.Column("percent", sa.Integer(), nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False
        ),
        _reference_organization(WARNINGS),
        sa.PrimaryKeyConstraint(
            "organization_id", "meter", "month", "percent", name=f"pk_{WARNINGS}"
        ),
    )
    protect(WARNINGS)


def _reference_organization(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id"],
        ["organizations.id"],
        name=f"fk_{table}_organization_id",
        ondelete="CASCADE",
    )
