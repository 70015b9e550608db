"""Create the audit log: append-only entries that triggers write, and the hash chains."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.audit_values import ID_FUNCTION, REDACTED_FUNCTION, SHOWN_FUNCTION
from migrations.auditing import NO_ORGANIZATION_ID, audited, unaudited
from migrations.policies import ROLE, protect

revision = "202611211000"
down_revision = "202611210700"
branch_labels = None
depends_on = None

TABLES = ("audit_entries", "audit_unsealed", "audit_blocks", "audit_heads")
OTHERS = ("audit_forgotten", "audit_watches")

# A block must follow the current head of the chain, so one of two concurrent appends fails.
SEAL = """
CREATE FUNCTION audit_seal(organization uuid, block bigint, first bigint, sealed uuid[],
    sums bytea, chained bytea, waiting bigint[], signed bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF block = 1 THEN
        INSERT INTO audit_heads (organization_id, blocks, entries, hash, mac)
        VALUES (organization, 1, cardinality(sealed), chained, signed);
    ELSE
        UPDATE audit_heads SET blocks = block, entries = first + cardinality(sealed),
            hash = chained, mac = signed
        WHERE organization_id = organization AND blocks = block - 1 AND entries = first;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'block % does not follow the head of the chain', block;
        END IF;
    END IF;
    INSERT INTO audit_blocks (organization_id, number, position, entries, digests, hash)
    VALUES (organization, block, first, sealed, sums, chained);
    DELETE FROM audit_unsealed WHERE organization_id = organization AND id = ANY (waiting);
END $$
"""

# The application can delete entries only with this function, and only after access has ended.
ERASE = """
CREATE FUNCTION audit_erase(organization uuid, proof jsonb) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    actor jsonb := coalesce(nullif(current_setting('app.actor', true), ''), '{}');
    entry uuid;
    known_as text;
BEGIN
    SELECT slug INTO known_as FROM organizations
    WHERE id = organization AND status IN ('closed', 'erased') FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the organization is not closed';
    END IF;
    DELETE FROM audit_entries WHERE organization_id = organization;
    DELETE FROM audit_unsealed WHERE organization_id = organization;
    DELETE FROM audit_blocks WHERE organization_id = organization;
    DELETE FROM audit_heads WHERE organization_id = organization;
    INSERT INTO audit_entries (id, organization_id, at, actor_kind, actor_id, actor_label,
        operation, action, target_type, target_id, target_label, changes, request_id, ip_address)
    SELECT audit_id(CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)), organization, clock_timestamp(),
        coalesce(actor ->> 'kind', 'system'), CAST(actor ->> 'id' AS uuid),
        coalesce(actor ->> 'label', 'database role ' || session_user), actor ->> 'operation',
        'organizations.erase', 'organizations', organization, known_as,
        (SELECT jsonb_object_agg(key, jsonb_build_array(NULL, value)) FROM jsonb_each(proof)),
        actor ->> 'request_id', actor ->> 'ip_address'
    RETURNING id INTO entry;
    INSERT INTO audit_unsealed (organization_id, entries) VALUES (organization, ARRAY[entry]);
    RETURN entry;
END $$
"""

SESSION_OF = "coalesce((changes -> 'user_id') ->> 1, (changes -> 'user_id') ->> 0)"
OF_SESSIONS = f"organization_id = '{NO_ORGANIZATION_ID}' AND target_type = 'sessions'"

# Entries about deleted accounts are personal data without a purpose. A new entry records the number
# and a hash of the ids of the deleted entries, so that a verification can distinguish them from
# entries that somebody removed.
FORGET = f"""
CREATE FUNCTION audit_forget(people uuid[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    actor jsonb := coalesce(nullif(current_setting('app.actor', true), ''), '{{}}');
    nobody CONSTANT uuid := '{NO_ORGANIZATION_ID}';
    as_text text[];
    gone uuid[];
    entry uuid := audit_id(CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint));
BEGIN
    people := ARRAY(SELECT p.id FROM unnest(people) AS p (id) WHERE NOT EXISTS (
        SELECT FROM users u WHERE u.id = p.id));
    IF cardinality(people) = 0 THEN
        RETURN 0;
    END IF;
    as_text := people;
    -- Each by an index of its own: the log of everybody's sessions grows for ever.
    WITH own AS (
        SELECT id, target_type, target_id FROM audit_entries
        WHERE organization_id = nobody AND action <> 'users.forget' AND actor_id = ANY (people)
        UNION
        SELECT id, target_type, target_id FROM audit_entries
        WHERE organization_id = nobody AND action <> 'users.forget' AND target_id = ANY (people)
        UNION
        SELECT id, target_type, target_id FROM audit_entries
        WHERE {SESSION_OF} = ANY (as_text) AND {OF_SESSIONS}
    ), of_sessions AS (
        SELECT e.id FROM audit_entries e JOIN own o
            ON e.organization_id = nobody AND e.target_id = o.target_id
        WHERE o.target_type = 'sessions'
    )
    SELECT array_agg(id ORDER BY id) INTO gone
    FROM (SELECT id FROM own UNION SELECT id FROM of_sessions) AS found;
    IF gone IS NULL THEN
        RETURN 0;
    END IF;
    DELETE FROM audit_entries WHERE id = ANY (gone);
    INSERT INTO audit_entries (id, organization_id, at, actor_kind, actor_id, actor_label,
        operation, action, target_type, changes, request_id, ip_address)
    VALUES (entry, nobody, clock_timestamp(), coalesce(actor ->> 'kind', 'system'),
        CAST(actor ->> 'id' AS uuid),
        coalesce(actor ->> 'label', 'database role ' || session_user), actor ->> 'operation',
        'users.forget', 'users', jsonb_build_object(
            'accounts', jsonb_build_array(NULL, cardinality(people)),
            'entries', jsonb_build_array(NULL, cardinality(gone)),
            'sha256', jsonb_build_array(NULL, encode(
                sha256(convert_to(array_to_string(gone, ','), 'UTF8')), 'hex'))),
        actor ->> 'request_id', actor ->> 'ip_address');
    INSERT INTO audit_forgotten (entry_id, forgotten_by) SELECT unnest(gone), entry;
    INSERT INTO audit_unsealed (organization_id, entries) VALUES (nobody, ARRAY[entry]);
    RETURN cardinality(gone);
END $$
"""

# Creates the first entry for each existing organization, so that every chain has a beginning.
BEGIN = """
WITH begun AS (
    INSERT INTO audit_entries (id, organization_id, at, actor_kind, actor_label, action,
        target_type, target_id, target_label, changes)
    SELECT audit_id(CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)), o.id,
        clock_timestamp(), 'system', 'migration', 'organizations.watch', 'organizations', o.id,
        o.name, '{}'
    FROM organizations o RETURNING organization_id, id
)
INSERT INTO audit_unsealed (organization_id, entries) SELECT organization_id, ARRAY[id] FROM begun
"""

WATCHED = {
    "organizations": {"label": "name"},
    "memberships": {"label": "user_id", "target": "user_id", "kind": "members"},
    "users": {"label": "email"},
    "sessions": {"label": "user_id", "ignored": ("last_seen_at",)},
    "schemas": {"label": "name"},
    "schema_versions": {"label": "number"},
    # Every save renews the claim; the counts are derived from the tag sets.
    "artifacts": {"label": "name", "ignored": ("claim_expires_at", "label_counts")},
    "tag_sets": {"ignored": ("claim_expires_at", "review_rank", "comment_count")},
    # Deliveries change these columns; the attempts of deliveries are recorded separately.
    "webhooks": {
        "label": "url",
        "ignored": ("last_triggered_at", "last_status_code", "consecutive_failures"),
    },
    "exports": {"label": "format", "ignored": ("progress_done", "progress_total")},
}


def upgrade() -> None:
    _tables()
    for table in TABLES:
        # The policies must not apply to the owner: the functions that write the log run as the
        # owner, for any organization or without an organization.
        protect(table, force=False)
    for table in (*TABLES, *OTHERS):
        op.execute(f"REVOKE ALL ON {table} FROM {ROLE}")
        op.execute(f"GRANT SELECT ON {table} TO {ROLE}")
    for function in (ID_FUNCTION, REDACTED_FUNCTION, SHOWN_FUNCTION, SEAL, ERASE, FORGET):
        op.execute(function)
    op.execute("REVOKE ALL ON FUNCTION audit_seal, audit_erase, audit_forget FROM PUBLIC")
    op.execute(f"GRANT EXECUTE ON FUNCTION audit_seal, audit_erase, audit_forget TO {ROLE}")
    op.execute(BEGIN)
    for table, told in WATCHED.items():
        audited(table, **told)


def _tables() -> None:
    op.create_table(
        "audit_entries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor_kind", sa.String(), nullable=False),
        sa.Column("actor_id", sa.Uuid(), nullable=True),
        sa.Column("actor_label", sa.String(), nullable=False),
        sa.Column("operation", sa.String(), nullable=True),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("target_type", sa.String(), nullable=False),
        sa.Column("target_id", sa.Uuid(), nullable=True),
        sa.Column("target_label", sa.String(), nullable=True),
        sa.Column("changes", postgresql.JSONB(), nullable=False),
        sa.Column("request_id", sa.String(), nullable=True),
        sa.Column("ip_address", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entries")),
    )
    op.create_index(
        "ix_audit_entries_list",
        "audit_entries",
        ["organization_id", "at", "id"],
        postgresql_include=["actor_kind", "action", "target_type"],
    )
    for name, column in (("actor", "actor_id"), ("target", "target_id")):
        op.create_index(
            f"ix_audit_entries_{name}", "audit_entries", ["organization_id", column, "at", "id"]
        )
    op.create_index(
        "ix_audit_entries_session_of",
        "audit_entries",
        [sa.text(SESSION_OF)],
        postgresql_where=sa.text(OF_SESSIONS),
    )
    op.create_table(
        "audit_unsealed",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("entries", postgresql.ARRAY(sa.Uuid()), nullable=False),
        sa.PrimaryKeyConstraint("organization_id", "id", name=op.f("pk_audit_unsealed")),
    )
    op.create_table(
        "audit_blocks",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("entries", postgresql.ARRAY(sa.Uuid()), nullable=False),
        sa.Column("digests", sa.LargeBinary(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("organization_id", "number", name=op.f("pk_audit_blocks")),
    )
    op.create_table(
        "audit_heads",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("blocks", sa.BigInteger(), nullable=False),
        sa.Column("entries", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("mac", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("organization_id", name=op.f("pk_audit_heads")),
    )
    op.create_table(
        "audit_forgotten",
        sa.Column("entry_id", sa.Uuid(), nullable=False),
        sa.Column("forgotten_by", sa.Uuid(), nullable=False),
        sa.PrimaryKeyConstraint("entry_id", name=op.f("pk_audit_forgotten")),
    )
    op.create_index(op.f("ix_audit_forgotten_forgotten_by"), "audit_forgotten", ["forgotten_by"])
    op.create_table(
        "audit_watches",
        sa.Column("table_name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=True),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("secret", postgresql.ARRAY(sa.String()), nullable=False),
        sa.Column("ignored", postgresql.ARRAY(sa.String()), nullable=False),
        sa.PrimaryKeyConstraint("table_name", name=op.f("pk_audit_watches")),
    )


def downgrade() -> None:
    for table in WATCHED:
        unaudited(table)
    for function in ("audit_seal", "audit_erase", "audit_forget", "audit_shown", "audit_redacted", "audit_id"):
        op.execute(f"DROP FUNCTION {function}")
    for table in (*TABLES, *OTHERS):
        op.drop_table(table)
