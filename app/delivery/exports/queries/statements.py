"""SQL queries that select the tag sets of an export."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID

FILTER_CONDITIONS = {
    "schema_id": "{t}.schema_id = CAST(%(schema_id)s AS uuid)",
    "statuses": "{t}.status = ANY(CAST(%(statuses)s AS text[]))",
    "artifact_ids": "{t}.artifact_id = ANY(CAST(%(artifact_ids)s AS uuid[]))",
    "labeler_id": "{t}.labeler_id = CAST(%(labeler_id)s AS uuid)",
    "created_after": "{t}.created_at >= CAST(%(created_after)s AS timestamptz)",
    "created_before": "{t}.created_at < CAST(%(created_before)s AS timestamptz)",
    "decided_after": "{t}.decided_at >= CAST(%(decided_after)s AS timestamptz)",
    "decided_before": "{t}.decided_at < CAST(%(decided_before)s AS timestamptz)",
}
"""The SQL condition for each property of an export filter; `{t}` is the alias of `tag_sets`."""
_TAG_SET_CONDITIONS = {**FILTER_CONDITIONS, "status": "{t}.status = %(status)s"}
_ALL_TAG_SETS = "tag_sets t WHERE {conditions}"
_LATEST_TAG_SETS = """(
        SELECT DISTINCT ON (n.artifact_id) n.* FROM tag_sets n WHERE {conditions}
        ORDER BY n.artifact_id, n.created_at DESC, n.id DESC
    ) t"""
# The final tag set of a document is the accepted merge or, without a merge, the tag set accepted
# last. It is looked up by document, so that the planner never uses a join (see below).
_IS_FINAL = """{t}.status = 'accepted' AND {t}.id = (
        SELECT o.id FROM tag_sets o
        WHERE o.organization_id = {t}.organization_id AND o.artifact_id = {t}.artifact_id
          AND o.status = 'accepted'
        ORDER BY o.source = 'merge' DESC, coalesce(o.decided_at, o.created_at) DESC, o.id DESC
        LIMIT 1)"""

_FORMAT_TIME = """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
_DOCUMENT_TEXT = """(
    SELECT x.text FROM artifact_texts x
    WHERE x.organization_id = s.organization_id AND x.artifact_id = s.artifact_id
    ) AS text"""
# Revisions are separate lines after the row. Their version id is NULL, and their third value is the
# tag set's id instead of tags.
_HISTORY = """
    UNION ALL (
    SELECT row_to_json(h), NULL, to_jsonb(s.tag_set_id) FROM (
        SELECT r.number, r.kind, r.note, r.author_id, {created_at} AS created_at, r.tags
        FROM tag_set_revisions r
        WHERE r.organization_id = s.organization_id AND r.tag_set_id = s.tag_set_id
        ORDER BY r.number) h)"""

# Documents are looked up one by one, never joined. The organization is compared with a column, not
# with a constant, so that the planner makes a plan for any organization. For a new organization
# there are no statistics yet: the planner would expect very few rows, and its plan would take
# quadratic time for thousands of rows. An index returns the tag sets in the order of creation
# without a sort, so the first row is returned immediately, regardless of the number of tag sets.
_ROWS = """
SELECT part.line, part.version_id, part.tags
FROM (
    SELECT t.id AS tag_set_id, t.status, t.source, t.revision, t.labeler_id, t.reviewer_id,
        t.submitted_at, t.decided_at, t.schema_version_id AS version_id, t.tags, t.artifact_id,
        t.organization_id
    FROM {tag_sets}
    ORDER BY t.created_at, t.id
) s, LATERAL (
    SELECT row_to_json(head) AS line, s.version_id, s.tags FROM (
        SELECT s.tag_set_id, s.status, s.source, s.revision,
            (SELECT row_to_json(a) FROM (
                SELECT d.id, d.name, d.external_id, d.media_type, d.sha256, d.metadata,
                    d.page_count, d.language, d.gold, d.archived
                FROM artifacts d
                WHERE d.organization_id = s.organization_id AND d.id = s.artifact_id) a
            ) AS artifact,
            s.labeler_id, s.reviewer_id, {submitted_at} AS submitted_at,
            {decided_at} AS decided_at{text}
    ) head{history}
) part
"""
# Accepted tag sets that were later reopened or deleted. Their lines have no version and no tags,
# and are written unchanged. A tag set that was accepted again is a normal row of this or a later
# file.
_REMOVED = """
UNION ALL (
SELECT row_to_json(removed), NULL, NULL FROM (
    SELECT r.tag_set_id, 'removed' AS status, NULL AS source, NULL AS revision,
        json_build_object('id', r.artifact_id) AS artifact,
        NULL AS labeler_id, NULL AS reviewer_id, NULL AS submitted_at,
        {removed_at} AS decided_at,
        json_build_object('id', r.schema_id, 'name', NULL, 'version_id', r.schema_version_id,
            'version', NULL) AS schema,
        json_build_object() AS labels
    FROM {removed_tag_sets}
    ORDER BY r.removed_at, r.tag_set_id{limit}
) removed)
"""
_REMOVED_TAG_SETS = """
removed_tag_sets r WHERE {conditions} AND NOT EXISTS (
    SELECT FROM tag_sets t WHERE t.organization_id = r.organization_id AND t.id = r.tag_set_id
        AND t.status = 'accepted')
"""
_REMOVED_CONDITIONS = {
    "schema_id": "r.schema_id = CAST(%(schema_id)s AS uuid)",
    "artifact_ids": "r.artifact_id = ANY(CAST(%(artifact_ids)s AS uuid[]))",
    "labeler_id": "r.labeler_id = CAST(%(labeler_id)s AS uuid)",
    "decided_after": "r.removed_at >= CAST(%(decided_after)s AS timestamptz)",
    "decided_before": "r.removed_at < CAST(%(decided_before)s AS timestamptz)",
}
_FIRST_TAG_SETS = "(SELECT t.* FROM {tag_sets} ORDER BY t.created_at, t.id LIMIT {limit}) t"
_COUNT = "SELECT count(*) FROM (SELECT FROM {tag_sets} LIMIT %(max_count)s) c"
_VERSIONS = """
SELECT CAST(v.id AS text), v.number, v.fields, CAST(s.id AS text), s.name, c.count
FROM (SELECT t.schema_version_id AS id, count(*) FROM {tag_sets} GROUP BY 1) c
JOIN schema_versions v ON v.organization_id = %(organization_id)s AND v.id = c.id
JOIN schemas s ON s.organization_id = v.organization_id AND s.id = v.schema_id
ORDER BY v.published_at DESC, v.id DESC
"""


class Statements(NamedTuple):
    """The SQL queries for one export, with their parameters.

    Attributes:
        rows: selects the COPY lines.
        versions: selects the schema versions, each with the number of tag sets that use it.
        total: selects the number of tag sets. Existing and removed tag sets are each counted up to
            the parameter `max_count`.
        values: the parameters, except `max_count`.
        with_tags: whether rows have tags.
        with_history: whether rows have a history.
    """

    rows: str
    versions: str
    total: str
    values: dict[str, Any]
    with_tags: bool
    with_history: bool

    @classmethod
    def build(
        cls,
        organization_id: UUID,
        filter_: Mapping[str, Any],
        include: Mapping[str, Any],
        *,
        limit: int | None = None,
    ) -> "Statements":
        """Build the statements for an export, or for its first `limit` tag sets.

        With `limit`, at most `limit` removed tag sets are selected as well.
        """
        values = {name: value for name, value in filter_.items() if value is not None}
        if len(values.get("statuses", ())) == 1:
            # If one status is compared by equality, the index also provides the order.
            values["status"] = values.pop("statuses")[0]
        tag_sets = _build_tag_sets_clause(values, include["tags"])
        if limit is not None:
            tag_sets = _FIRST_TAG_SETS.format(tag_sets=tag_sets, limit=limit)
        history = _HISTORY.format(created_at=_FORMAT_TIME.format("r.created_at"))
        rows = _ROWS.format(
            tag_sets=tag_sets,
            submitted_at=_FORMAT_TIME.format("s.submitted_at"),
            decided_at=_FORMAT_TIME.format("s.decided_at"),
            text=f", {_DOCUMENT_TEXT}" if include["text"] else "",
            history=history if include["history"] else "",
        )
        total = _COUNT.format(tag_sets=tag_sets)
        if include.get("removed"):
            removed_tag_sets = _build_removed_clause(values)
            rows += _build_removed_query(removed_tag_sets, limit)
            total = f"SELECT ({total}) + ({_COUNT.format(tag_sets=removed_tag_sets)})"
        versions = _VERSIONS.format(tag_sets=tag_sets)
        parameters = {**values, "organization_id": str(organization_id)}
        flags = (bool(include["evidence"]), bool(include["history"]))
        return cls(rows, versions, total, parameters, *flags)


def _build_removed_clause(values: Mapping[str, Any]) -> str:
    conditions = ["r.organization_id = %(organization_id)s"]
    conditions += [_REMOVED_CONDITIONS[name] for name in values if name in _REMOVED_CONDITIONS]
    return _REMOVED_TAG_SETS.format(conditions=" AND ".join(conditions))


def _build_removed_query(removed_tag_sets: str, limit: int | None) -> str:
    return _REMOVED.format(
        removed_at=_FORMAT_TIME.format("r.removed_at"),
        removed_tag_sets=removed_tag_sets,
        limit="" if limit is None else f" LIMIT {limit}",
    )


def _build_tag_sets_clause(values: Mapping[str, Any], selection: str) -> str:
    is_latest = selection == "latest"
    alias = "n" if is_latest else "t"
    conditions = [f"{alias}.organization_id = %(organization_id)s"]
    conditions += [_TAG_SET_CONDITIONS[name].format(t=alias) for name in values]
    if selection == "final":
        conditions.append(_IS_FINAL.format(t=alias))
    template = _LATEST_TAG_SETS if is_latest else _ALL_TAG_SETS
    return template.format(conditions=" AND ".join(conditions))
