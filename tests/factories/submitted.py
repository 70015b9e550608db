"""Create hundreds of submitted tag sets with a few statements."""

from tests.factories.workspace import Workspace

_DOCUMENTS = """
INSERT INTO artifacts (organization_id, id, name, schema_id, metadata, priority, gold, archived,
    media_type, size_bytes, sha256, text_length, status, assignees, label_counts, created_at,
    updated_at, revision)
SELECT :org, gen_random_uuid(), 'Bill ' || i, :schema, '{}', 50, false, false, 'text/plain', 1,
    encode(sha256(convert_to(CAST(random() AS text) || i, 'UTF8')), 'hex'), 10, 'in_review', '[]',
    jsonb_build_object('draft', 0, 'submitted', 1, 'accepted', 0, 'rejected', 0), now(), now(), 1
FROM generate_series(1, :count) AS i RETURNING id
"""
_SETS = """
INSERT INTO tag_sets (organization_id, id, artifact_id, schema_id, schema_version_id, labeler_id,
    source, tags, status, submitted_at, seconds_spent, comment_count, rejections, review_rank,
    escalated, flags, created_at, updated_at, revision)
SELECT :org, uuidv7(document.age), document.id, :schema, version.id,
    (CAST(:labelers AS uuid[]))[1 + document.place % cardinality(CAST(:labelers AS uuid[]))],
    'human', '[]', 'submitted', now() + document.age, 0, 0, 0, 0,
    false, '[]', now(), now(), 1
FROM (
    SELECT id, place, (place - cardinality(CAST(:artifacts AS uuid[]))) * interval '1 ms' AS age
    FROM unnest(CAST(:artifacts AS uuid[])) WITH ORDINALITY AS listed (id, place)
) AS document
JOIN schema_versions version ON version.organization_id = :org AND version.schema_id = :schema
RETURNING id, submitted_at
"""


def make_submitted_tag_sets(workspace: Workspace, count: int, *names: str) -> list[str]:
    """Create `count` documents, each with a submitted tag set, and return the tag sets' ids.

    The ids are in ascending order, which is also the order of the review queue. The named users are
    the labelers in turn. The tag sets have no tags and no revisions, and no events are emitted.
    """
    schema = workspace.schema()
    documents = workspace.sql(_DOCUMENTS, schema=schema, count=count)
    values = {
        "artifacts": [str(row.id) for row in documents],
        "labelers": [str(workspace.org.users[name]) for name in names],
    }
    rows = workspace.sql(_SETS, schema=schema, **values)
    return [str(row.id) for row in sorted(rows, key=lambda row: row.submitted_at)]
