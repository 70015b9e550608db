"""Cascading deletions find feedback rows through an index."""

from tests.factories import Org
from tests.factories.workspace import Workspace

_CASCADES_WITHOUT_INDEX = """
SELECT c.conname FROM pg_constraint c
WHERE c.contype = 'f' AND c.confdeltype = 'c'
  AND c.conrelid IN ('prediction_feedback'::regclass, 'feedback_documents'::regclass)
  AND NOT EXISTS (
      SELECT 1 FROM pg_index i
      WHERE i.indrelid = c.conrelid AND i.indpred IS NULL
        AND (CAST(i.indkey AS int2[]))[0 : cardinality(c.conkey) - 1] = c.conkey
  )
"""


def test_each_cascade_has_an_index_of_all_rows(org: Org) -> None:
    assert Workspace(org).sql(_CASCADES_WITHOUT_INDEX) == []
