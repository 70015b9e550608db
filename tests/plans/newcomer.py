"""Create an organization that is newer than the statistics; read and update many of its documents.

The planner expects that such an organization has one row.
"""

from flask import Flask
from sqlalchemy import text

from app.insight.quality.queries import documents
from app.kit import db, tenancy
from app.workflow.assignment.queries import assignees
from app.workflow.assignment.queries.assignees import ArtifactAssignment
from app.workflow.review_queue.queries import items
from app.workflow.tag_sets.queries import drafts, statuses

DOCUMENTS = 4_000
_BATCH = 300
_DOCUMENTS = """
INSERT INTO artifacts (organization_id, id, name, metadata, priority, gold, archived, media_type,
    size_bytes, sha256, page_count, language, text_length, status, assignees, label_counts,
    created_at, updated_at, revision)
SELECT md5('org' || {organization})::uuid, md5('document' || n)::uuid, 'document ' || n, '{{}}', 50,
    false, false, 'text/plain', 100, encode(sha256(convert_to('document' || n, 'UTF8')), 'hex'), 1,
    'en', 100, 'ready', '[]', '{{"draft": 0, "submitted": 0, "accepted": 0, "rejected": 0}}',
    now() + n * interval '1 millisecond', now() + n * interval '1 millisecond', 1
FROM generate_series({first}, {last}) AS n
"""
_TAG_SETS = """
INSERT INTO tag_sets (organization_id, id, artifact_id, schema_id, schema_version_id, source, tags,
    status, submitted_at, seconds_spent, comment_count, rejections, review_rank, escalated, flags,
    created_at, updated_at, revision)
SELECT organization_id, id, id, id, id, 'import', '[]', 'submitted', now(), 0, 0, 0, 0, false,
    '[]', created_at, updated_at, 1
FROM artifacts WHERE name = 'document ' || {first} OR organization_id = md5('org50')::uuid
"""
_REVISIONS = """
INSERT INTO tag_set_revisions (organization_id, tag_set_id, number, tags, kind, created_at)
SELECT t.organization_id, t.id, n, '[]', 'submit', t.created_at
FROM tag_sets t CROSS JOIN generate_series(1, {count}) AS n WHERE {condition}
"""
_USER = """
INSERT INTO users (id, email, name, locale, time_zone, token_version, created_at, updated_at,
    revision)
VALUES (md5('org50')::uuid, 'new@org.example', 'New', 'en', 'UTC', 1, now(), now(), 1)
"""
_KNOWN = {"organization": "(1 + n % 40)", "first": 1, "last": 10 * DOCUMENTS}
_NEW = {"organization": "50", "first": 10 * DOCUMENTS + 1, "last": 11 * DOCUMENTS}
FILL = (
    _USER,
    _DOCUMENTS.format(**_KNOWN),
    _TAG_SETS.format(**_KNOWN),
    _REVISIONS.format(count=10 * DOCUMENTS, condition="true"),
    "ANALYZE artifacts, tag_sets, tag_set_revisions",
    _DOCUMENTS.format(**_NEW),
    _TAG_SETS.format(**_NEW),
    _REVISIONS.format(count=1, condition="organization_id = md5('org50')::uuid"),
)
"""The statements that fill the tables, as the superuser. Autovacuum waits for more changes."""
SEEN = (
    "count(*) FILTER (WHERE tag_sets.status = 'draft')",
    "assignees = coalesce(changes.assignees",
    "AS assignee (id, user_id)",
    "AS assigned (id, user_id, keeps_claim)",
    "AS loaded_bytes",
)
"""A part of each statement that reads or writes a batch."""
_IDS = text("SELECT id FROM artifacts ORDER BY id LIMIT :batch")


def act(app: Flask) -> None:
    """Read and write a batch of the new organization's documents and tag sets in every way."""
    with app.app_context(), tenancy.across_organizations(reason="finds the organization"):
        organization_id = db.session().scalars(text("SELECT CAST(md5('org50') AS uuid)")).one()
        db.session().rollback()
    with app.app_context(), tenancy.organization(organization_id), db.transaction():
        ids = list(db.session().scalars(_IDS, {"batch": _BATCH}))
        statuses.update_statuses(ids)
        # A user has the id of the organization, and each tag set that of its document.
        drafts.claim_artifacts(dict.fromkeys(ids, organization_id), minutes=5)
        assignees.update_assignments(
            [ArtifactAssignment(artifact_id, []) for artifact_id in ids], clears_due=False
        )
        items.assign(dict.fromkeys(ids), team_id=None, due_at=None, ids_with_kept_claims=set())
        list(documents.load_documents(ids))
