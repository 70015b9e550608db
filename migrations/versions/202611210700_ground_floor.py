"""Create the first tables: identity, labeling, delivery and infrastructure."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.policies import ROLE, create_role, protect

revision = "202611210700"
down_revision = None
branch_labels = None
depends_on = None

TENANT_TABLES = (
    "memberships",
    "schemas",
    "schema_versions",
    "artifacts",
    "artifact_pages",
    "tag_sets",
    "tag_set_revisions",
    "webhooks",
    "webhook_deliveries",
    "webhook_attempts",
    "notifications",
    "exports",
    "outbox_events",
    "jobs",
)

SEARCH = """
CREATE FUNCTION search_artifacts(query text) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
    SELECT artifact_id FROM artifact_texts
    WHERE organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid
      AND search @@ websearch_to_tsquery('simple', query)
$$
"""


def upgrade() -> None:
    create_role()
    op.execute(f"GRANT SELECT ON alembic_version TO {ROLE}")
    _tables()
    for table in TENANT_TABLES:
        protect(table)
    # The policy must not apply to the owner. The search function runs as the owner, so that it can
    # use the text index, and selects the rows of the current organization itself.
    protect("artifact_texts", force=False)
    op.execute(SEARCH)
    op.execute("REVOKE ALL ON FUNCTION search_artifacts(text) FROM PUBLIC")
    op.execute(f"GRANT EXECUTE ON FUNCTION search_artifacts(text) TO {ROLE}")


def downgrade() -> None:
    raise RuntimeError("the first migration cannot be reverted")


def _tables() -> None:
    op.create_table('idempotency_keys',
    sa.Column('scope', sa.LargeBinary(), nullable=False),
    sa.Column('request_hash', sa.LargeBinary(), nullable=False),
    sa.Column('status', sa.Integer(), nullable=True),
    sa.Column('response', sa.String(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.PrimaryKeyConstraint('scope', name=op.f('pk_idempotency_keys'))
    )
    op.create_index(op.f('ix_idempotency_keys_created_at'), 'idempotency_keys', ['created_at'], unique=False)
    op.create_table('organizations',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('slug', sa.String(), nullable=False),
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('settings', postgresql.JSONB(), nullable=False),
    sa.Column('status', sa.String(), nullable=False),
    sa.Column('plan', sa.String(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('revision', sa.Integer(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_organizations')),
    sa.UniqueConstraint('slug', name=op.f('uq_organizations_slug'))
    )
    op.create_table('schedule_runs',
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('due_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('started_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.PrimaryKeyConstraint('name', 'due_at', name=op.f('pk_schedule_runs'))
    )
    op.create_table('users',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('email', sa.String(), nullable=False),
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('locale', sa.String(), nullable=False),
    sa.Column('time_zone', sa.String(), nullable=False),
    sa.Column('password_hash', sa.String(), nullable=True),
    sa.Column('token_version', sa.Integer(), nullable=False),
    sa.Column('email_verified_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('disabled_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('revision', sa.Integer(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_users')),
    sa.UniqueConstraint('email', name=op.f('uq_users_email'))
    )
    op.create_table('exports',
    sa.Column('organization_id', sa.Uuid(), nullable=False),
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('format', sa.String(), nullable=False),
    sa.Column('filter', postgresql.JSONB(), nullable=False),
    sa.Column('options', postgresql.JSONB(), nullable=False),
    sa.Column('include', postgresql.JSONB(), nullable=False),
    sa.Column('status', sa.String(), nullable=False),
    sa.Column('progress_done', sa.Integer(), nullable=False),
    sa.Column('progress_total', sa.Integer(), nullable=True),
    sa.Column('row_count', sa.Integer(), nullable=True),
    sa.Column('size_bytes', sa.BigInteger(), nullable=True),
    sa.Column('sha256', sa.String(), nullable=True),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('error', postgresql.JSONB(), nullable=True),
    sa.Column('scheduled_export_id', sa.Uuid(), nullable=True),
    sa.Column('storage_key', sa.String(), nullable=True),
    sa.Column('created_by', sa.Uuid(), nullable=True),
    sa.Column('started_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('finished_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['created_by'], ['users.id'], name=op.f('fk_exports_created_by')),
    sa.ForeignKeyConstraint(['organization_id'], ['organizations.id'], name=op.f('fk_exports_organization_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('organization_id', 'id', name=op.f('pk_exports'))
    )
    op.create_index('ix_exports_expiry', 'exports', ['expires_at'], unique=False, postgresql_where=sa.text('storage_key IS NOT NULL'))
    op.create_index('ix_exports_list', 'exports', ['organization_id', 'created_at', 'id'], unique=False)
    op.create_table('jobs',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('organization_id', sa.Uuid(), nullable=True),
    sa.Column('event_id', sa.Uuid(), nullable=True),
    sa.Column('queue', sa.String(), nullable=False),
    sa.Column('function', sa.String(), nullable=False),
    sa.Column('args', postgresql.JSONB(), nullable=False),
    sa.Column('unique_key', sa.String(), nullable=True),
    sa.Column('request_id', sa.String(), nullable=True),
    sa.Column('status', sa.String(), server_default='queued', nullable=False),
    sa.Column('due_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=True),
    sa.Column('lease_token', sa.Uuid(), nullable=True),
    sa.Column('leased_until', sa.DateTime(timezone=True), nullable=True),
    sa.Column('attempts', sa.Integer(), server_default='0', nullable=False),
    sa.Column('error', sa.String(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('finished_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['organization_id'], ['organizations.id'], name=op.f('fk_jobs_organization_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_jobs'))
    )
    op.create_index('ix_jobs_due', 'jobs', ['queue', 'due_at'], unique=False, postgresql_where=sa.text('due_at IS NOT NULL'))
    op.create_index('ix_jobs_finished_at', 'jobs', ['finished_at'], unique=False, postgresql_where=sa.text('finished_at IS NOT NULL'))
    op.create_index('uq_jobs_unique_key', 'jobs', ['unique_key'], unique=True, postgresql_where=sa.text('unique_key IS NOT NULL'))
    op.create_table('memberships',
    sa.Column('organization_id', sa.Uuid(), nullable=False),
    sa.Column('user_id', sa.Uuid(), nullable=False),
    sa.Column('role', sa.String(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['organization_id'], ['organizations.id'], name=op.f('fk_memberships_organization_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['user_id'], ['users.id'], name=op.f('fk_memberships_user_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('organization_id', 'user_id', name=op.f('pk_memberships'))
    )
    op.create_index(op.f('ix_memberships_user_id'), 'memberships', ['user_id'], unique=False)
    op.create_table('notifications',
    sa.Column('organization_id', sa.Uuid(), nullable=False),
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('user_id', sa.Uuid(), nullable=False),
    sa.Column('kind', sa.String(), nullable=False),
    sa.Column('title', sa.String(), nullable=False),
    sa.Column('body', sa.String(), nullable=False),
    sa.Column('link', sa.String(), nullable=True),
    sa.Column('unique_key', sa.String(), nullable=True),
    sa.Column('read_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['organization_id'], ['organizations.id'], name=op.f('fk_notifications_organization_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['user_id'], ['users.id'], name=op.f('fk_notifications_user_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('organization_id', 'id', name=op.f('pk_notifications'))
    )
    op.create_index('ix_notifications_user', 'notifications', ['organization_id', 'user_id', 'created_at', 'id'], unique=False)
    op.create_index('uq_notifications_key', 'notifications', ['organization_id', 'user_id', 'unique_key'], unique=True)
    op.create_table('outbox_events',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('organization_id', sa.Uuid(), nullable=True),
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('data', postgresql.JSONB(), nullable=False),
    sa.Column('request_id', sa.String(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.ForeignKeyConstraint(['organization_id'], ['organizations.id'], name=op.f('fk_outbox_events_organization_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_outbox_events'))
    )
    op.create_index('ix_outbox_events_created_at', 'outbox_events', ['created_at'], unique=False)
    op.create_table('schemas',
    sa.Column('organization_id', sa.Uuid(), nullable=False),
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('document_type', sa.String(), nullable=False),
    sa.Column('description', sa.String(), nullable=False),
    sa.Column('guidelines', sa.String(), nullable=False),
    sa.Column('review_policy', postgresql.JSONB(), nullable=False),
    sa.Column('fields', postgresql.JSONB(), nullable=False),
    sa.Column('status', sa.String(), nullable=False),
    sa.Column('ai_assist_enabled', sa.Boolean(), nullable=False),
    sa.Column('current_version_id', sa.Uuid(), nullable=True),
    sa.Column('current_version_number', sa.Integer(), nullable=False),
    sa.Column('current_version_published_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_by', sa.Uuid(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('revision', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['created_by'], ['users.id'], name=op.f('fk_schemas_created_by')),
    sa.ForeignKeyConstraint(['organization_id'], ['organizations.id'], name=op.f('fk_schemas_organization_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('organization_id', 'id', name=op.f('pk_schemas'))
    )
    op.create_index('ix_schemas_list', 'schemas', ['organization_id', 'created_at', 'id'], unique=False)
    op.create_table('sessions',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('user_id', sa.Uuid(), nullable=False),
    sa.Column('issued_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('last_seen_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('ip_address', sa.String(), nullable=True),
    sa.Column('user_agent', sa.String(), nullable=True),
    sa.Column('revoked_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['user_id'], ['users.id'], name=op.f('fk_sessions_user_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_sessions'))
    )
    op.create_index(op.f('ix_sessions_expires_at'), 'sessions', ['expires_at'], unique=False)
    op.create_index(op.f('ix_sessions_user_id'), 'sessions', ['user_id'], unique=False)
    op.create_table('webhooks',
    sa.Column('organization_id', sa.Uuid(), nullable=False),
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('url', sa.String(), nullable=False),
    sa.Column('events', postgresql.ARRAY(sa.TEXT()), nullable=False),
    sa.Column('description', sa.String(), nullable=False),
    sa.Column('active', sa.Boolean(), nullable=False),
    sa.Column('consecutive_failures', sa.Integer(), nullable=False),
    sa.Column('disabled_reason', sa.String(), nullable=True),
    sa.Column('last_triggered_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('last_status_code', sa.Integer(), nullable=True),
    sa.Column('secret', sa.String(), nullable=False),
    sa.Column('previous_secret', sa.String(), nullable=True),
    sa.Column('previous_secret_expires_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('revision', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['organization_id'], ['organizations.id'], name=op.f('fk_webhooks_organization_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('organization_id', 'id', name=op.f('pk_webhooks'))
    )
    op.create_index('ix_webhooks_list', 'webhooks', ['organization_id', 'created_at', 'id'], unique=False)
    op.create_table('artifacts',
    sa.Column('organization_id', sa.Uuid(), nullable=False),
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('schema_id', sa.Uuid(), nullable=True),
    sa.Column('external_id', sa.String(), nullable=True),
    sa.Column('metadata', postgresql.JSONB(), nullable=False),
    sa.Column('priority', sa.Integer(), nullable=False),
    sa.Column('due_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('gold', sa.Boolean(), nullable=False),
    sa.Column('archived', sa.Boolean(), nullable=False),
    sa.Column('media_type', sa.String(), nullable=False),
    sa.Column('size_bytes', sa.BigInteger(), nullable=False),
    sa.Column('sha256', sa.String(), nullable=False),
    sa.Column('page_count', sa.Integer(), nullable=True),
    sa.Column('language', sa.String(), nullable=True),
    sa.Column('text_length', sa.Integer(), nullable=False),
    sa.Column('status', sa.String(), nullable=False),
    sa.Column('failure', postgresql.JSONB(), nullable=True),
    sa.Column('connector_id', sa.Uuid(), nullable=True),
    sa.Column('ingestion_job_id', sa.Uuid(), nullable=True),
    sa.Column('assignees', postgresql.JSONB(), nullable=False),
    sa.Column('claim_user_id', sa.Uuid(), nullable=True),
    sa.Column('claim_expires_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('label_counts', postgresql.JSONB(), nullable=False),
    sa.Column('created_by', sa.Uuid(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('revision', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['claim_user_id'], ['users.id'], name=op.f('fk_artifacts_claim_user_id')),
    sa.ForeignKeyConstraint(['created_by'], ['users.id'], name=op.f('fk_artifacts_created_by')),
    sa.ForeignKeyConstraint(['organization_id', 'schema_id'], ['schemas.organization_id', 'schemas.id'], name=op.f('fk_artifacts_organization_id_schema_id')),
    sa.ForeignKeyConstraint(['organization_id'], ['organizations.id'], name=op.f('fk_artifacts_organization_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('organization_id', 'id', name=op.f('pk_artifacts')),
    sa.UniqueConstraint('organization_id', 'sha256', name='uq_artifacts_content')
    )
    op.create_index('ix_artifacts_claimed', 'artifacts', ['organization_id', 'id'], unique=False, postgresql_where=sa.text('claim_user_id IS NOT NULL'))
    op.create_index('ix_artifacts_created', 'artifacts', ['organization_id', 'created_at', 'id'], unique=False, postgresql_include=['archived'])
    op.create_index('ix_artifacts_external', 'artifacts', ['organization_id', 'external_id'], unique=False)
    op.create_index('ix_artifacts_name', 'artifacts', ['organization_id', 'name', 'id'], unique=False)
    op.create_index('ix_artifacts_priority', 'artifacts', ['organization_id', 'priority', 'id'], unique=False)
    op.create_index('ix_artifacts_schema', 'artifacts', ['organization_id', 'schema_id', 'created_at', 'id'], unique=False, postgresql_include=['archived'])
    op.create_index('ix_artifacts_status', 'artifacts', ['organization_id', 'status', 'created_at', 'id'], unique=False, postgresql_include=['archived'])
    op.create_table('schema_versions',
    sa.Column('organization_id', sa.Uuid(), nullable=False),
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('schema_id', sa.Uuid(), nullable=False),
    sa.Column('number', sa.Integer(), nullable=False),
    sa.Column('fields', postgresql.JSONB(), nullable=False),
    sa.Column('review_policy', postgresql.JSONB(), nullable=False),
    sa.Column('published_by', sa.Uuid(), nullable=True),
    sa.Column('published_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('changes', postgresql.JSONB(), nullable=False),
    sa.Column('breaking', sa.Boolean(), nullable=False),
    sa.Column('note', sa.String(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['organization_id', 'schema_id'], ['schemas.organization_id', 'schemas.id'], name=op.f('fk_schema_versions_organization_id_schema_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['organization_id'], ['organizations.id'], name=op.f('fk_schema_versions_organization_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['published_by'], ['users.id'], name=op.f('fk_schema_versions_published_by')),
    sa.PrimaryKeyConstraint('organization_id', 'id', name=op.f('pk_schema_versions')),
    sa.UniqueConstraint('organization_id', 'schema_id', 'number', name=op.f('uq_schema_versions_organization_id_schema_id_number'))
    )
    op.create_table('webhook_deliveries',
    sa.Column('organization_id', sa.Uuid(), nullable=False),
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('webhook_id', sa.Uuid(), nullable=False),
    sa.Column('event_id', sa.Uuid(), nullable=False),
    sa.Column('event', sa.String(), nullable=False),
    sa.Column('body', sa.LargeBinary(), nullable=False),
    sa.Column('status', sa.String(), nullable=False),
    sa.Column('test', sa.Boolean(), nullable=False),
    sa.Column('round', sa.Integer(), nullable=False),
    sa.Column('attempts_in_round', sa.Integer(), nullable=False),
    sa.Column('attempt_count', sa.Integer(), nullable=False),
    sa.Column('attempted_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('next_attempt_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=True),
    sa.Column('lease_token', sa.Uuid(), nullable=True),
    sa.Column('leased_until', sa.DateTime(timezone=True), nullable=True),
    sa.Column('delivered_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('request_id', sa.String(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['organization_id', 'webhook_id'], ['webhooks.organization_id', 'webhooks.id'], name=op.f('fk_webhook_deliveries_organization_id_webhook_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['organization_id'], ['organizations.id'], name=op.f('fk_webhook_deliveries_organization_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('organization_id', 'id', name=op.f('pk_webhook_deliveries'))
    )
    op.create_index('ix_webhook_deliveries_due', 'webhook_deliveries', ['webhook_id', 'next_attempt_at'], unique=False, postgresql_where=sa.text('next_attempt_at IS NOT NULL'))
    op.create_index('ix_webhook_deliveries_leased', 'webhook_deliveries', ['webhook_id', 'leased_until'], unique=False, postgresql_where=sa.text('leased_until IS NOT NULL'))
    op.create_index('ix_webhook_deliveries_list', 'webhook_deliveries', ['organization_id', 'webhook_id', 'created_at', 'id'], unique=False)
    op.create_index('uq_webhook_deliveries_event', 'webhook_deliveries', ['organization_id', 'webhook_id', 'event_id'], unique=True)
    op.create_table('artifact_pages',
    sa.Column('organization_id', sa.Uuid(), nullable=False),
    sa.Column('artifact_id', sa.Uuid(), nullable=False),
    sa.Column('number', sa.Integer(), nullable=False),
    sa.Column('width', sa.Double(), nullable=False),
    sa.Column('height', sa.Double(), nullable=False),
    sa.Column('rotation', sa.Integer(), nullable=False),
    sa.Column('start', sa.Integer(), nullable=False),
    sa.Column('end', sa.Integer(), nullable=False),
    sa.Column('words', postgresql.JSONB(), nullable=True),
    sa.ForeignKeyConstraint(['organization_id', 'artifact_id'], ['artifacts.organization_id', 'artifacts.id'], name=op.f('fk_artifact_pages_organization_id_artifact_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['organization_id'], ['organizations.id'], name=op.f('fk_artifact_pages_organization_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('organization_id', 'artifact_id', 'number', name=op.f('pk_artifact_pages'))
    )
    op.create_table('artifact_texts',
    sa.Column('organization_id', sa.Uuid(), nullable=False),
    sa.Column('artifact_id', sa.Uuid(), nullable=False),
    sa.Column('text', sa.String(), nullable=False),
    sa.Column('search', postgresql.TSVECTOR(), nullable=False),
    sa.ForeignKeyConstraint(['organization_id', 'artifact_id'], ['artifacts.organization_id', 'artifacts.id'], name=op.f('fk_artifact_texts_organization_id_artifact_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['organization_id'], ['organizations.id'], name=op.f('fk_artifact_texts_organization_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('organization_id', 'artifact_id', name=op.f('pk_artifact_texts'))
    )
    op.create_index('ix_artifact_texts_search', 'artifact_texts', ['search'], unique=False, postgresql_using='gin')
    op.create_table('tag_sets',
    sa.Column('organization_id', sa.Uuid(), nullable=False),
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('artifact_id', sa.Uuid(), nullable=False),
    sa.Column('schema_id', sa.Uuid(), nullable=False),
    sa.Column('schema_version_id', sa.Uuid(), nullable=False),
    sa.Column('labeler_id', sa.Uuid(), nullable=True),
    sa.Column('reviewer_id', sa.Uuid(), nullable=True),
    sa.Column('source', sa.String(), nullable=False),
    sa.Column('tags', postgresql.JSONB(), nullable=False),
    sa.Column('tag_count', sa.Integer(), sa.Computed('jsonb_array_length(tags)', persisted=True), nullable=False),
    sa.Column('tags_bytes', sa.Integer(), sa.Computed('octet_length(CAST(tags AS text))', persisted=True), nullable=False),
    sa.Column('status', sa.String(), nullable=False),
    sa.Column('submitted_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('decided_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('reason', sa.String(), nullable=True),
    sa.Column('seconds_spent', sa.Integer(), nullable=False),
    sa.Column('comment_count', sa.Integer(), nullable=False),
    sa.Column('rejections', sa.Integer(), nullable=False),
    sa.Column('review_rank', sa.BigInteger(), nullable=False),
    sa.Column('claim_user_id', sa.Uuid(), nullable=True),
    sa.Column('claim_expires_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('assignee_id', sa.Uuid(), nullable=True),
    sa.Column('escalated', sa.Boolean(), nullable=False),
    sa.Column('flags', postgresql.JSONB(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('revision', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['assignee_id'], ['users.id'], name=op.f('fk_tag_sets_assignee_id')),
    sa.ForeignKeyConstraint(['claim_user_id'], ['users.id'], name=op.f('fk_tag_sets_claim_user_id')),
    sa.ForeignKeyConstraint(['labeler_id'], ['users.id'], name=op.f('fk_tag_sets_labeler_id')),
    sa.ForeignKeyConstraint(['organization_id', 'artifact_id'], ['artifacts.organization_id', 'artifacts.id'], name=op.f('fk_tag_sets_organization_id_artifact_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['organization_id', 'schema_id'], ['schemas.organization_id', 'schemas.id'], name=op.f('fk_tag_sets_organization_id_schema_id')),
    sa.ForeignKeyConstraint(['organization_id', 'schema_version_id'], ['schema_versions.organization_id', 'schema_versions.id'], name=op.f('fk_tag_sets_organization_id_schema_version_id')),
    sa.ForeignKeyConstraint(['organization_id'], ['organizations.id'], name=op.f('fk_tag_sets_organization_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['reviewer_id'], ['users.id'], name=op.f('fk_tag_sets_reviewer_id')),
    sa.PrimaryKeyConstraint('organization_id', 'id', name=op.f('pk_tag_sets'))
    )
    op.create_index('ix_tag_sets_artifact', 'tag_sets', ['organization_id', 'artifact_id', 'created_at', 'id'], unique=False)
    op.create_index('ix_tag_sets_created', 'tag_sets', ['organization_id', 'created_at', 'id'], unique=False)
    op.create_index('ix_tag_sets_review', 'tag_sets', ['organization_id', 'review_rank', 'id'], unique=False, postgresql_where=sa.text("status = 'submitted'"))
    op.create_index('ix_tag_sets_schema', 'tag_sets', ['organization_id', 'schema_id', 'status', 'id'], unique=False)
    op.create_index('ix_tag_sets_status', 'tag_sets', ['organization_id', 'status', 'created_at', 'id'], unique=False)
    op.create_index('uq_tag_sets_draft', 'tag_sets', ['organization_id', 'artifact_id', 'labeler_id'], unique=True, postgresql_where=sa.text("status = 'draft'"))
    op.create_table('webhook_attempts',
    sa.Column('organization_id', sa.Uuid(), nullable=False),
    sa.Column('delivery_id', sa.Uuid(), nullable=False),
    sa.Column('number', sa.Integer(), nullable=False),
    sa.Column('at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('status_code', sa.Integer(), nullable=True),
    sa.Column('error', sa.String(), nullable=True),
    sa.Column('duration_ms', sa.Integer(), nullable=False),
    sa.Column('error_kind', sa.String(), nullable=True),
    sa.Column('response_excerpt', sa.String(), nullable=True),
    sa.ForeignKeyConstraint(['organization_id', 'delivery_id'], ['webhook_deliveries.organization_id', 'webhook_deliveries.id'], name=op.f('fk_webhook_attempts_organization_id_delivery_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['organization_id'], ['organizations.id'], name=op.f('fk_webhook_attempts_organization_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('organization_id', 'delivery_id', 'number', name=op.f('pk_webhook_attempts'))
    )
    op.create_table('tag_set_revisions',
    sa.Column('organization_id', sa.Uuid(), nullable=False),
    sa.Column('tag_set_id', sa.Uuid(), nullable=False),
    sa.Column('number', sa.Integer(), nullable=False),
    sa.Column('tags', postgresql.JSONB(), nullable=False),
    sa.Column('author_id', sa.Uuid(), nullable=True),
    sa.Column('kind', sa.String(), nullable=False),
    sa.Column('note', sa.String(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['author_id'], ['users.id'], name=op.f('fk_tag_set_revisions_author_id')),
    sa.ForeignKeyConstraint(['organization_id', 'tag_set_id'], ['tag_sets.organization_id', 'tag_sets.id'], name=op.f('fk_tag_set_revisions_organization_id_tag_set_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['organization_id'], ['organizations.id'], name=op.f('fk_tag_set_revisions_organization_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('organization_id', 'tag_set_id', 'number', name=op.f('pk_tag_set_revisions'))
    )
