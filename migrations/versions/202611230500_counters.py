"""Add exact counts of rows by facets, which triggers maintain; see `migrations/counting.py`."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.counting import FOLDING_LOCK_KEY
from migrations.policies import ROLE, protect

revision = "202611230500"
down_revision = "202611230110"
branch_labels = None
depends_on = None

XACT = "CAST(CAST(pg_current_xact_id() AS text) AS bigint)"

ADD = """
        INSERT INTO counts (organization_id, cube, key, bucket, facets, n, total)
        SELECT organization_id, cube, key, bucket, facets, n, total FROM {cells} AS cells
        ON CONFLICT (organization_id, cube, key, bucket, facets)
        DO UPDATE SET n = counts.n + excluded.n, total = counts.total + excluded.total
        RETURNING counts.*
"""
DROP_EMPTY = """
    DELETE FROM counts c USING unnest(emptied) AS e
    WHERE c.organization_id = e.organization_id AND c.cube = e.cube AND c.key = e.key
      AND c.bucket = e.bucket AND c.facets = e.facets AND c.n = 0 AND c.total = 0;
"""
# Adds at most `most` deltas to the cells: those of the current organization, or of all
# organizations. If no deltas of any organization are left, moves the horizon. Then the deltas of
# all transactions before the horizon are folded, so readers begin there, and skip deleted deltas
# that cannot be vacuumed yet.
FOLD = f"""
CREATE FUNCTION fold_counts(most int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    reached bigint := CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint);
    folded int;
    emptied counts[];
BEGIN
    IF NOT pg_try_advisory_xact_lock({FOLDING_LOCK_KEY}) THEN
        RETURN 0;
    END IF;
    WITH taken AS (
        DELETE FROM count_deltas
        WHERE ctid = ANY (ARRAY(SELECT ctid FROM count_deltas LIMIT most))
        RETURNING organization_id, source, facets, n, total
    ), cells AS (
        SELECT d.organization_id, c.cube,
               CASE WHEN c.key IS NULL THEN '' ELSE d.facets[c.key] END AS key,
               CASE WHEN c.bucket IS NULL THEN ''
                    ELSE left(d.facets[c.bucket], c.bucket_length) END AS bucket,
               ARRAY(SELECT d.facets[place] FROM unnest(c.facets) AS place) AS facets,
               sum(d.n) AS n, sum(d.total) AS total
        FROM taken AS d
        JOIN count_cubes c ON c.source = d.source
        WHERE (c.key IS NULL OR d.facets[c.key] <> '')
          AND (c.bucket IS NULL OR d.facets[c.bucket] <> '')
          AND EXISTS (SELECT FROM organizations o WHERE o.id = d.organization_id)
        GROUP BY 1, 2, 3, 4, 5 HAVING sum(d.n) <> 0 OR sum(d.total) <> 0
    ), added AS ({ADD.format(cells="cells")})
    SELECT (SELECT count(*) FROM taken),
           array_agg(CAST(added AS counts)) FILTER (WHERE added.n = 0 AND added.total = 0)
    INTO folded, emptied FROM added;
    {DROP_EMPTY}
    IF folded < most AND current_setting('app.all_organizations', true) = 'on' THEN
        UPDATE count_horizon SET xact = reached WHERE xact <> reached;
    END IF;
    RETURN folded;
END $$
"""  # noqa: S608 - made of constants
# Returns the differences between the rows of a source and its cells and deltas. One statement reads
# all of them in one snapshot, so every difference is an error, even if other transactions write or
# fold.
DIFFERENCES = """
CREATE FUNCTION count_differences(organization uuid, source_name text)
RETURNS TABLE (cube text, key text, bucket text, facets text[], n numeric, total numeric)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    told count_sources;
    cells text;
BEGIN
    SELECT * INTO STRICT told FROM count_sources s WHERE s.source = source_name;
    SELECT string_agg(format(
        'SELECT CAST(%L AS text) AS cube, %s AS key, %s AS bucket, ARRAY[%s]::text[] AS facets,'
        ' sum(n) AS n, sum(total) AS total FROM found WHERE (%s) GROUP BY 2, 3, 4',
        c.cube,
        CASE WHEN c.key IS NULL THEN $q$''$q$ ELSE format('facets[%s]', c.key) END,
        CASE WHEN c.bucket IS NULL THEN $q$''$q$
             ELSE format('left(facets[%s], %s)', c.bucket, c.bucket_length) END,
        (SELECT string_agg(format('facets[%s]', place), ', ') FROM unnest(c.facets) AS place),
        concat_ws(' AND ', 'true', 'facets[' || c.key || $q$] <> ''$q$,
                  'facets[' || c.bucket || $q$] <> ''$q$)), ' UNION ALL ')
    INTO cells FROM count_cubes c WHERE c.source = source_name;
    RETURN QUERY EXECUTE format($sql$
        WITH found AS MATERIALIZED (
            SELECT facets, sum(n) AS n, sum(total) AS total FROM (
                SELECT ARRAY[%s]::text[] AS facets, 1 AS n, %s AS total
                FROM %I r WHERE r.organization_id = $1 AND (%s)
                UNION ALL
                SELECT facets, -n, -total FROM count_deltas
                WHERE organization_id = $1 AND source = $2
            ) AS one GROUP BY facets
        )
        SELECT cube, key, bucket, facets, sum(n), sum(total) FROM (
            %s
            UNION ALL
            SELECT cube, key, bucket, facets, -n, -total FROM counts
            WHERE organization_id = $1
              AND cube IN (SELECT cube FROM count_cubes WHERE source = $2)
        ) AS cells
        GROUP BY cube, key, bucket, facets HAVING sum(n) <> 0 OR sum(total) <> 0
    $sql$, array_to_string(told.expressions, ', '), told.measure, told.table_name, told.condition,
        cells)
    USING organization, source_name;
END $$
"""
# The lock prevents folds, so the cells do not change after the differences were computed.
REPAIR = f"""
CREATE FUNCTION repair_counts(organization uuid, source_name text) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    repaired int;
    emptied counts[];
BEGIN
    PERFORM pg_advisory_xact_lock({FOLDING_LOCK_KEY});
    WITH cells AS (
        SELECT organization AS organization_id, d.*
        FROM count_differences(organization, source_name) AS d
    ), added AS ({ADD.format(cells="cells")})
    SELECT count(*), array_agg(CAST(added AS counts)) FILTER (WHERE added.n = 0 AND added.total = 0)
    INTO repaired, emptied FROM added;
    {DROP_EMPTY}
    RETURN repaired;
END $$
"""  # noqa: S608 - made of constants


def upgrade() -> None:
    _definitions()
    _cells()
    for statement in (FOLD, DIFFERENCES, REPAIR):
        op.execute(statement)
    for table in ("count_sources", "count_cubes"):
        op.execute(f"REVOKE ALL ON {table} FROM {ROLE}")
        op.execute(f"GRANT SELECT ON {table} TO {ROLE}")


def downgrade() -> None:
    op.execute(
        "DROP FUNCTION fold_counts(int), repair_counts(uuid, text), count_differences(uuid, text)"
    )
    for table in ("count_deltas", "counts", "count_horizon", "count_cubes", "count_sources"):
        op.drop_table(table)


def _definitions() -> None:
    texts = postgresql.ARRAY(sa.Text())
    op.create_table(
        "count_sources",
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("table_name", sa.Text(), nullable=False),
        sa.Column("condition", sa.Text(), nullable=False),
        sa.Column("facets", texts, nullable=False),
        sa.Column("expressions", texts, nullable=False),
        sa.Column("measure", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("source", name="pk_count_sources"),
    )
    op.create_table(
        "count_cubes",
        sa.Column("cube", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("key", sa.Integer(), nullable=True),
        sa.Column("bucket", sa.Integer(), nullable=True),
        sa.Column("bucket_length", sa.Integer(), nullable=True),
        sa.Column("facets", postgresql.ARRAY(sa.Integer()), nullable=False),
        sa.ForeignKeyConstraint(
            ["source"], ["count_sources.source"], name="fk_count_cubes_source", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("cube", name="pk_count_cubes"),
    )
    op.create_table(
        "count_horizon",
        sa.Column("one", sa.Boolean(), server_default="true", nullable=False),
        sa.Column("xact", sa.BigInteger(), server_default="0", nullable=False),
        sa.CheckConstraint("one", name=op.f("ck_count_horizon_one")),
        sa.PrimaryKeyConstraint("one", name="pk_count_horizon"),
    )
    op.execute("INSERT INTO count_horizon DEFAULT VALUES")


def _cells() -> None:
    def text() -> sa.Text:
        # Times are compared as texts, so the collation must be `C`.
        return sa.Text(collation="C")

    op.create_table(
        "counts",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("cube", text(), nullable=False),
        sa.Column("key", text(), nullable=False),
        sa.Column("bucket", text(), nullable=False),
        sa.Column("facets", postgresql.ARRAY(text()), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="fk_counts_organization_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "organization_id", "cube", "key", "bucket", "facets", name="pk_counts"
        ),
    )
    op.create_table(
        "count_deltas",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("source", text(), nullable=False),
        sa.Column(
            "xact",
            sa.BigInteger(),
            server_default=sa.text(XACT),
            nullable=False,
        ),
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("facets", postgresql.ARRAY(text()), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("organization_id", "source", "xact", "id", name="pk_count_deltas"),
    )
    # Cells are updated often, and thousands of deltas are inserted and deleted.
    op.execute("ALTER TABLE counts SET (fillfactor = 70)")
    op.execute(
        "ALTER TABLE count_deltas SET (autovacuum_vacuum_scale_factor = 0,"
        " autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0)"
    )
    protect("counts")
    # The policy must not apply to the owner: functions that run as the owner write the audit log,
    # also for organizations other than the current organization.
    protect("count_deltas", force=False)
