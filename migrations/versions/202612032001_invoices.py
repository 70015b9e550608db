"""Add billing profiles, the history of plans, scheduled changes, invoices and their series."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.auditing import audited, unaudited
from migrations.policies import ROLE, protect

revision = "202612032001"
down_revision = "202612031001"
branch_labels = None
depends_on = None

# Records every change of a plan. A scheduled change is recorded with the time at which it was due.
# The statement has locked the row of the organization, so the times of its changes are in order.
_RECORD = """
CREATE FUNCTION record_plan_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    scope text := coalesce(current_setting('app.all_organizations', true), '');
    due timestamptz := NULLIF(current_setting('app.plan_due_at', true), '')::timestamptz;
    latest timestamptz;
BEGIN
    PERFORM set_config('app.all_organizations', 'on', true);
    latest := (SELECT max(changed_at) FROM plan_changes WHERE organization_id = NEW.id);
    INSERT INTO plan_changes (organization_id, plan_before, plan, changed_at)
    VALUES (NEW.id, OLD.plan, NEW.plan,
        greatest(least(due, clock_timestamp()), latest, OLD.created_at));
    DELETE FROM scheduled_plan_changes WHERE organization_id = NEW.id;
    PERFORM set_config('app.all_organizations', scope, true);
    RETURN NULL;
END $$
"""
_RECORD_TRIGGER = """
CREATE TRIGGER record_plan_change AFTER UPDATE OF plan ON organizations
FOR EACH ROW WHEN (OLD.plan IS DISTINCT FROM NEW.plan) EXECUTE FUNCTION record_plan_change()
"""
# An issued invoice can only be paid, voided or rendered, and each of its files is written only
# once.
_KEEP = """
CREATE FUNCTION keep_issued_invoice() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changing text[] := ARRAY['status', 'paid_at', 'pdf', 'xml', 'updated_at', 'revision'];
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.status = 'draft' THEN
            RETURN OLD;
        END IF;
        RAISE EXCEPTION 'an issued invoice cannot be deleted' USING ERRCODE = '23001';
    END IF;
    IF OLD.status <> NEW.status AND (OLD.status, NEW.status) NOT IN (
        ('draft', 'issued'), ('issued', 'paid'), ('issued', 'void'), ('paid', 'void'))
    THEN
        RAISE EXCEPTION 'an invoice that is % cannot become %', OLD.status, NEW.status
            USING ERRCODE = '23001';
    END IF;
    IF OLD.status <> 'draft' AND (
        (to_jsonb(OLD) - changing) IS DISTINCT FROM (to_jsonb(NEW) - changing)
        OR (OLD.pdf IS NOT NULL AND OLD.pdf IS DISTINCT FROM NEW.pdf)
        OR (OLD.xml IS NOT NULL AND OLD.xml IS DISTINCT FROM NEW.xml)
        OR (OLD.paid_at IS NOT NULL AND OLD.paid_at IS DISTINCT FROM NEW.paid_at))
    THEN
        RAISE EXCEPTION 'an issued invoice cannot be changed' USING ERRCODE = '23001';
    END IF;
    RETURN NEW;
END $$
"""
_KEEP_TRIGGER = """
CREATE TRIGGER keep_issued_invoice BEFORE UPDATE OR DELETE ON invoices
FOR EACH ROW EXECUTE FUNCTION keep_issued_invoice()
"""
_CONTENT = ("seller", "buyer", "lines", "tax", "notes", "pdf", "xml", "time_zone", "language")


def upgrade() -> None:
    _create_profiles()
    _create_plan_changes()
    _create_invoices()
    tables = ("billing_profiles", "plan_changes", "scheduled_plan_changes", "invoices")
    for table in tables:
        protect(table)
    audited("billing_profiles", label="name")
    audited("scheduled_plan_changes", label="plan")
    audited("invoices", label="number", ignored=_CONTENT)
    for statement in (_RECORD, _RECORD_TRIGGER, _KEEP, _KEEP_TRIGGER):
        op.execute(statement)
    op.execute(f"REVOKE UPDATE ON plan_changes FROM {ROLE}")
    op.execute(f"REVOKE DELETE ON invoice_series FROM {ROLE}")


def _create_profiles() -> None:
    name = "billing_profiles"
    op.create_table(
        name,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("address_lines", postgresql.JSONB(), nullable=False),
        sa.Column("postal_code", sa.String(), nullable=False),
        sa.Column("city", sa.String(), nullable=False),
        sa.Column("country", sa.String(), nullable=False),
        sa.Column("tax_number", sa.String(), nullable=True),
        sa.Column("email", sa.String(), nullable=False),
        sa.Column("currency", sa.String(), nullable=False),
        sa.Column("time_zone", sa.String(), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        _reference_organization(name),
        sa.PrimaryKeyConstraint("organization_id", "id", name=f"pk_{name}"),
        sa.UniqueConstraint("organization_id", name=f"uq_{name}_organization_id"),
    )


def _create_plan_changes() -> None:
    name = "plan_changes"
    op.create_table(
        name,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("plan_before", sa.String(), nullable=False),
        sa.Column("plan", sa.String(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        _reference_organization(name),
        sa.PrimaryKeyConstraint("organization_id", "id", name=f"pk_{name}"),
    )
    name = "scheduled_plan_changes"
    op.create_table(
        name,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("plan", sa.String(), nullable=False),
        sa.Column("effective_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("requested_by", sa.Uuid(), nullable=True),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False
        ),
        _reference_organization(name),
        sa.ForeignKeyConstraint(["requested_by"], ["users.id"], name=f"fk_{name}_requested_by"),
        sa.PrimaryKeyConstraint("organization_id", "id", name=f"pk_{name}"),
        sa.UniqueConstraint("organization_id", name=f"uq_{name}_organization_id"),
    )
    op.create_index(f"ix_{name}_due", name, ["effective_at"])


def _create_invoices() -> None:
    name = "invoices"
    op.create_table(
        name,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("number", sa.String(), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("period_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("period_to", sa.DateTime(timezone=True), nullable=False),
        sa.Column("currency", sa.String(), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("time_zone", sa.String(), nullable=False),
        sa.Column("seller", postgresql.JSONB(), nullable=False),
        sa.Column("buyer", postgresql.JSONB(none_as_null=True), nullable=True),
        sa.Column("lines", postgresql.JSONB(), nullable=False),
        sa.Column("subtotal", sa.Numeric(), nullable=False),
        sa.Column("tax", postgresql.JSONB(), nullable=False),
        sa.Column("total", sa.Numeric(), nullable=False),
        sa.Column("notes", postgresql.JSONB(), nullable=False),
        sa.Column("refers_to", sa.Uuid(), nullable=True),
        sa.Column("issued_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("paid_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("pdf", postgresql.JSONB(none_as_null=True), nullable=True),
        sa.Column("xml", postgresql.JSONB(none_as_null=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        _reference_organization(name),
        sa.PrimaryKeyConstraint("organization_id", "id", name=f"pk_{name}"),
        sa.ForeignKeyConstraint(
            ["organization_id", "refers_to"],
            ["invoices.organization_id", "invoices.id"],
            name=f"fk_{name}_organization_id_refers_to",
        ),
        sa.CheckConstraint(
            "(status = 'draft') = (number IS NULL)", name=op.f(f"ck_{name}_numbered")
        ),
    )
    op.create_index(f"ix_{name}_list", name, ["organization_id", "created_at", "id"])
    op.create_index(f"ix_{name}_period", name, ["organization_id", "period_from", "id"])
    op.create_index(f"uq_{name}_number", name, ["number"], unique=True)
    op.create_index(
        f"uq_{name}_of_period",
        name,
        ["organization_id", "period_from", "currency"],
        unique=True,
        postgresql_where=sa.text("kind = 'invoice'"),
    )
    op.create_table(
        "invoice_series",
        sa.Column("prefix", sa.String(), nullable=False),
        sa.Column("last_number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("prefix", name="pk_invoice_series"),
    )


def _reference_organization(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id"],
        ["organizations.id"],
        name=f"fk_{table}_organization_id",
        ondelete="CASCADE",
    )


def downgrade() -> None:
    for table in ("invoices", "scheduled_plan_changes", "billing_profiles"):
        unaudited(table)
    op.execute("DROP TRIGGER record_plan_change ON organizations")
    op.execute("DROP FUNCTION record_plan_change()")
    for table in (
        "invoices",
        "invoice_series",
        "scheduled_plan_changes",
        "plan_changes",
        "billing_profiles",
    ):
        op.drop_table(table)
    op.execute("DROP FUNCTION keep_issued_invoice()")
