"""Deletion of old rows in batches, each in a separate transaction."""

import pytest
from flask import Flask

from app.kit import db, purging, tenancy
from app.kit.ids import uuid7
from tests.factories import Org
from tests.kit.jobs.workshop import sql


def test_rows_are_deleted_in_batches(app: Flask, org: Org, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purging, "BATCH_SIZE", 2)
    for age in (1, 1, 1, 1, 1, 9):
        insert = "INSERT INTO outbox_events (id, organization_id, name, data, created_at) VALUES"
        values = f"('{uuid7()}', :org, 'test.old', '{{}}', now() - interval '{age} days')"
        sql(org, f"{insert} {values}")
    sizes: list[int] = []

    def checkpoint() -> None:
        sizes.append(len(sql(org, _LEFT)))
        db.session().commit()

    condition = f"organization_id = '{org.id}' AND created_at > now() - interval '2 days'"
    everything = tenancy.across_organizations(reason="a test is the job")
    with app.app_context(), everything:
        assert purging.purge("outbox_events", condition, checkpoint) == 5
    # The rows of a batch are deleted when its transaction commits.
    assert sizes == [6, 4, 2]
    assert len(sql(org, _LEFT)) == 1


_LEFT = "SELECT FROM outbox_events WHERE organization_id = :org"
