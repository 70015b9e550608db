"""A history that is larger than a value of PostgreSQL may be."""

import tracemalloc
from typing import Any

from app.kit import container
from app.workflow.tag_sets.models import TagSetRevision

SAVES, CHARACTERS = 900, 1_300_000
LIMIT = 0x3FFFFFFF
"""Bytes of PostgreSQL's longest value (MaxAllocSize)."""
# Stored in a few kilobytes each, as they repeat themselves.
SAVE = """
INSERT INTO tag_set_revisions
    (organization_id, tag_set_id, number, tags, author_id, kind, created_at)
SELECT organization_id, id, i, long.tags, labeler_id, 'save', now()
FROM tag_sets, generate_series(:first, :first + 99) AS i, (SELECT jsonb_build_array(
    jsonb_build_object('field', 'number', 'value', repeat('0123456789', :length))) AS tags
    OFFSET 0) AS long
WHERE organization_id = :org AND id = :id
"""


def test_a_history_beyond_a_gigabyte(exports: Any) -> None:
    schema_id = exports.workspace.schema()
    long = exports.label(schema_id, [])
    short = exports.label(schema_id, [])
    values = {"org": exports.org.id, "id": long, "length": CHARACTERS // 10}
    # One statement for all of them could exceed the time limit of statements.
    for first in range(1, SAVES, 100):
        exports.sql(SAVE, first=first, **values)
    exports.add(TagSetRevision(tag_set_id=short, number=1, tags=[]))
    export_id = exports.start(include={"history": True})
    tracemalloc.start()
    exports.work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    export = exports.get(export_id)
    assert (export["status"], export["row_count"]) == ("completed", 2)
    assert export["size_bytes"] > SAVES * CHARACTERS > LIMIT
    assert peak < 50_000_000
    path = f"/exports/{export_id}/download"
    end = exports.api.get(path, headers={"Range": "bytes=-3000"}).data
    assert end.count(b"\n") == 2
    assert b'}]}\n{"tag_set_id":"' + short.encode() in end
    container.current().storage.delete(exports.build_storage_key(export_id))
    # The end of the run searches all values for secrets.
    exports.sql("DELETE FROM tag_set_revisions WHERE tag_set_id = :id", id=long)
