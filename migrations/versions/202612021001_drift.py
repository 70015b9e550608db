"""Add drift detections, drift reports and fixed baselines."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.auditing import audited, unaudited
from migrations.policies import protect

revision = "202612021001"
down_revision = "202612020701"
branch_labels = None
depends_on = None

DETECTIONS, REPORTS, BASELINES = "drift_detections", "drift_reports", "drift_baselines"


def upgrade() -> None:
    _create_detections()
    _create_reports()
    _create_baselines()
    for table in (DETECTIONS, REPORTS, BASELINES):
        protect(table)
    audited(REPORTS, label="shift_key", ignored=("confirmed_at",))
    audited(BASELINES, target="schema_id")


def _create_detections() -> None:
    op.create_table(
        DETECTIONS,
        *_start_columns(),
        sa.Column("due_on", sa.Date(), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        *(_time(name) for name in ("baseline_from", "baseline_until")),
        *(_time(name) for name in ("current_from", "current_until")),
        sa.Column("requested_by", sa.Uuid(), nullable=True),
        sa.Column("report_ids", postgresql.JSONB(), nullable=False),
        sa.Column("compared", sa.Integer(), nullable=False),
        sa.Column("not_enough", sa.Integer(), nullable=False),
        sa.Column("warnings", postgresql.JSONB(), nullable=False),
        sa.Column("error", postgresql.JSONB(none_as_null=True), nullable=True),
        _time("finished_at", nullable=True),
        *(_time(name) for name in ("created_at", "updated_at")),
        *_build_keys(DETECTIONS, "requested_by"),
        sa.PrimaryKeyConstraint("organization_id", "id", name=f"pk_{DETECTIONS}"),
    )
    columns = ["organization_id", "schema_id"]
    op.create_index(
        f"uq_{DETECTIONS}_unfinished",
        DETECTIONS,
        columns,
        unique=True,
        postgresql_where=sa.text("finished_at IS NULL"),
    )
    op.create_index(
        f"uq_{DETECTIONS}_due",
        DETECTIONS,
        [*columns, "due_on"],
        unique=True,
        postgresql_where=sa.text("due_on IS NOT NULL"),
    )
    op.create_index(f"ix_{DETECTIONS}_created_at", DETECTIONS, ["created_at"])


def _create_reports() -> None:
    op.create_table(
        REPORTS,
        *_start_columns(),
        sa.Column("detection_id", sa.Uuid(), nullable=False),
        sa.Column("shift_key", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("field", sa.String(), nullable=True),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("labeler_id", sa.Uuid(), nullable=True),
        sa.Column("test", sa.String(), nullable=False),
        sa.Column("category", sa.String(), nullable=True),
        sa.Column("baseline", postgresql.JSONB(), nullable=False),
        sa.Column("current", postgresql.JSONB(), nullable=False),
        *(_time(name) for name in ("current_from", "current_until")),
        *(
            sa.Column(name, sa.Float(), nullable=False)
            for name in ("p_value", "q_value", "effect", "js_distance")
        ),
        sa.Column("warnings", postgresql.JSONB(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        _time("confirmed_at"),
        sa.Column("acknowledged_by", sa.Uuid(), nullable=True),
        _time("acknowledged_at", nullable=True),
        _time("closed_at", nullable=True),
        *(_time(name) for name in ("created_at", "updated_at")),
        *_build_keys(REPORTS, "labeler_id", "acknowledged_by"),
        sa.PrimaryKeyConstraint("organization_id", "id", name=f"pk_{REPORTS}"),
    )
    op.create_index(f"ix_{REPORTS}_list", REPORTS, ["organization_id", "created_at", "id"])
    shift = ["organization_id", "schema_id"]
    op.create_index(f"ix_{REPORTS}_schema", REPORTS, [*shift, "status", "shift_key"])
    op.create_index(
        f"uq_{REPORTS}_open",
        REPORTS,
        [*shift, "shift_key"],
        unique=True,
        postgresql_where=sa.text("status = 'open'"),
    )


def _create_baselines() -> None:
    op.create_table(
        BASELINES,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("schema_id", sa.Uuid(), nullable=False),
        *(_time(name) for name in ("baseline_from", "baseline_until")),
        sa.Column("set_by", sa.Uuid(), nullable=True),
        _time("updated_at"),
        *_build_keys(BASELINES, "set_by"),
        sa.PrimaryKeyConstraint("organization_id", "schema_id", name=f"pk_{BASELINES}"),
    )


def _time(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _start_columns() -> tuple[sa.Column[object], ...]:
    return tuple(
        sa.Column(name, sa.Uuid(), nullable=False)
        for name in ("organization_id", "id", "schema_id")
    )


def _build_keys(table: str, *user_columns: str) -> tuple[sa.ForeignKeyConstraint, ...]:
    return (
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=f"fk_{table}_organization_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "schema_id"],
            ["schemas.organization_id", "schemas.id"],
            name=f"fk_{table}_organization_id_schema_id",
            ondelete="CASCADE",
        ),
        *(
            sa.ForeignKeyConstraint([column], ["users.id"], name=f"fk_{table}_{column}")
            for column in user_columns
        ),
    )


def downgrade() -> None:
    for table in (BASELINES, REPORTS):
        unaudited(table)
    for table in (BASELINES, REPORTS, DETECTIONS):
        op.drop_table(table)
