"""Expired claims on review items, which a periodic job clears."""

from collections.abc import Callable

import pytest

from app.workflow.assignment.queries import claimable_tables
from tests.factories import make_due
from tests.factories.submitted import make_submitted_tag_sets
from tests.factories.workspace import Workspace


def test_one_run_clears_all_expired_claims_in_several_transactions(
    workspace: Workspace, work: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claimable_tables, "BATCH_SIZE", 2)
    make_submitted_tag_sets(workspace, 5, "labeler")
    workspace.sql(
        "UPDATE tag_sets SET claim_user_id = :user_id, claim_expires_at = now()",
        user_id=workspace.org.users["reviewer"],
    )
    make_due(workspace.org.app, "review_queue.expire_claims")
    work()
    # `xmin` is the transaction that wrote the row.
    rows = workspace.sql("SELECT claim_user_id, CAST(xmin AS text) AS xmin FROM tag_sets")
    assert [row.claim_user_id for row in rows] == [None] * 5
    assert len({row.xmin for row in rows}) >= 3
