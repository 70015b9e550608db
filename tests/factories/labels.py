"""Create fields and schemas, and thousands of tag sets with a few statements."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import insert, text

from app.kit import db
from app.kit.ids import uuid7
from app.schemas.artifact_schemas.models import ArtifactSchema, SchemaVersion
from tests.factories.orgs import Org

_FIELD_TYPES = ("text", "money", "date", "number")
POLICY: dict[str, Any] = {
    "labels_per_artifact": 1,
    "sample_rate": 1.0,
    "auto_accept_agreement": None,
    "auto_accept_confidence": None,
    "max_rejections": 3,
}
"""A review policy."""

# The id of row i consists of its timestamp and a hash, so that the ids are valid UUIDv7 values in
# the order of the rows. `kind` is an SQL literal that differs between the tables.
_ID = """
CAST(lpad(to_hex(CAST(extract(epoch FROM {at}) * 1000 AS bigint)), 12, '0') || '7'
     || lpad(to_hex(i % 4096), 3, '0') || '8' || substr(md5(:salt || {kind} || i), 1, 15) AS uuid)
"""
_AT = "CAST(:start AS timestamptz) + i * interval '1 millisecond'"
_ARTIFACT_ID = _ID.format(at=_AT, kind="'artifact'")
_TAG_SET_ID = _ID.format(at=_AT, kind="'tag_set'")

_ARTIFACTS = f"""
INSERT INTO artifacts (organization_id, id, name, schema_id, external_id, metadata, priority, gold,
    archived, media_type, size_bytes, sha256, page_count, language, text_length, status, assignees,
    label_counts, created_by, created_at, updated_at, revision)
SELECT :org, {_ARTIFACT_ID}, 'document-' || i || '.txt', :schema, 'ext-' || i,
    jsonb_build_object('batch', i % 10), 50, false, false, 'text/plain', 600,
    encode(sha256(convert_to(:salt || i, 'UTF8')), 'hex'), 1, 'en', 51, 'done', '[]',
    '{{"draft": 0, "submitted": 0, "accepted": 1, "rejected": 0}}', :labeler, {_AT}, {_AT}, 1
FROM generate_series(1, :n) AS i
"""
_TEXTS = f"""
INSERT INTO artifact_texts (organization_id, artifact_id, text, search)
SELECT :org, {_ARTIFACT_ID}, body, to_tsvector('simple', body)
FROM generate_series(1, :n) AS i,
    LATERAL (SELECT 'Invoice ' || i || E' of the vendor\\nDue within thirty days.' AS body) AS b
"""
_TAG_SETS = """
INSERT INTO tag_sets (organization_id, id, artifact_id, schema_id, schema_version_id, labeler_id,
    reviewer_id, source, tags, status, submitted_at, decided_at, seconds_spent, comment_count,
    rejections, review_rank, escalated, flags, created_at, updated_at, revision)
SELECT :org, {tag_set_id}, {artifact_id}, :schema, :version, :labeler, :reviewer, 'human',
    jsonb_build_array({tags}), 'accepted', {at}, {at} + interval '1 minute', 30, 0, 0, 0, false,
    '[]', {at}, {at}, 2
FROM generate_series(1, :n) AS i
"""
_REVISIONS = """
INSERT INTO tag_set_revisions
    (organization_id, tag_set_id, number, tags, author_id, kind, created_at)
SELECT organization_id, id, 2, tags, labeler_id, 'save', created_at FROM tag_sets
WHERE organization_id = :org AND schema_id = :schema
"""
_TAG = """
jsonb_build_object('field', '{key}', 'value', {value}, 'row', NULL, 'confidence', NULL,
    'source', 'human', 'evidence', jsonb_build_array(jsonb_build_object(
        'page', 1, 'box', jsonb_build_array(0.125, 0.25, 0.375, 0.28125),
        'start', {start}, 'end', {start} + 12, 'text', 'Value ' || i)))
"""
_VALUES = {
    "text": "'Value ' || i",
    "money": "jsonb_build_object('amount', i || '.50', 'currency', 'EUR')",
    "date": "to_char(date '2026-01-01' + i % 365, 'YYYY-MM-DD')",
    "number": "i * 0.5",
}


@dataclass(frozen=True)
class Labeled:
    """A schema and `count` documents; if `make_labeled` created them, each has a tag set.

    The creation time of the i-th of these documents is then `start` plus i milliseconds.
    """

    schema_id: UUID
    version_id: UUID
    fields: list[dict[str, Any]]
    start: datetime
    count: int


def make_field(key: str, field_type: str, **overrides: Any) -> dict[str, Any]:
    """Return a field with all properties, as a published version stores it."""
    return {
        "key": key,
        "label": key.replace("_", " ").capitalize(),
        "type": field_type,
        "required": False,
        "multiple": field_type == "span",
        "description": "",
        "options": [],
        "columns": [],
        "constraints": {},
        "ai_assist": True,
        **overrides,
    }


def insert_records(org: Org, *records: tuple[type[db.Base], dict[str, Any]]) -> None:
    """Insert records without the ORM, which is faster; thousands of tests need records."""
    with org.transaction() as session:
        for model, values in records:
            columns = {model.__mapper__.columns[name].name: v for name, v in values.items()}
            session.execute(insert(model.__table__), columns)


def make_schema(
    org: Org,
    fields: list[dict[str, Any]],
    name: str = "Invoice",
    *,
    status: str = "active",
    review_policy: dict[str, Any] = POLICY,
) -> tuple[UUID, UUID]:
    """Create a schema with one version, and return (schema id, version id)."""
    schema_id, version_id = uuid7(), uuid7()
    contents = {"fields": fields, "review_policy": review_policy}
    schema = {
        "id": schema_id,
        "name": name,
        "document_type": "invoice",
        "status": status,
        "current_version_id": version_id,
        "current_version_number": 1,
        "current_version_published_at": db.utc_now(),
        **contents,
    }
    version = {"id": version_id, "schema_id": schema_id, "number": 1, **contents}
    insert_records(org, (ArtifactSchema, schema), (SchemaVersion, version))
    return schema_id, version_id


def make_labeled(
    org: Org, n: int, tags_per_set: int = 4, *, texts: bool = True, revisions: bool = False
) -> Labeled:
    """Create `n` artifacts of a new schema, each with an accepted tag set of `tags_per_set` tags.

    This uses a few statements, so 50,000 artifacts take seconds. The fields are field_1, field_2
    and so on, whose types are text, money, date and number in turn. The tag sets were decided one
    millisecond apart. `texts` and `revisions` also create the documents' texts and the tag sets'
    revisions.
    """
    types = [(f"field_{i + 1}", _FIELD_TYPES[i % len(_FIELD_TYPES)]) for i in range(tags_per_set)]
    fields = [make_field(key, field_type) for key, field_type in types]
    schema_id, version_id = make_schema(org, fields)
    start = db.utc_now().replace(microsecond=0) - timedelta(days=1)
    tags = ", ".join(
        _TAG.format(key=key, value=_VALUES[field_type], start=position * 13)
        for position, (key, field_type) in enumerate(types)
    )
    tag_sets = _TAG_SETS.format(tag_set_id=_TAG_SET_ID, artifact_id=_ARTIFACT_ID, at=_AT, tags=tags)
    values = {
        "org": org.id,
        "schema": schema_id,
        "version": version_id,
        "labeler": org.users["labeler"],
        "reviewer": org.users["reviewer"],
        "salt": schema_id.hex,
        "start": start,
        "n": n,
    }
    statements = [_ARTIFACTS, *([_TEXTS] if texts else []), tag_sets]
    statements += [_REVISIONS] if revisions else []
    with org.transaction() as session:
        # A statement on many rows takes longer than the service's timeout.
        session.execute(text("SET LOCAL statement_timeout = 0"))
        for statement in statements:
            session.execute(text(statement), values)
    return Labeled(schema_id, version_id, fields, start, n)
