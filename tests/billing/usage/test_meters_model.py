"""Whatever is created, deleted, retried, rolled back and erased, meters equal a recount."""

from collections import Counter
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from app.identity.erasing import service as erasing
from app.kit import db, tenancy
from app.kit.ids import uuid7
from app.kit.plan_limits import Meter
from tests.factories import Org, make_org
from tests.factories.counts import INSERT, insert_artifacts, run_sql
from tests.factories.orgs import get_data
from tests.factories.properties import examples
from tests.factories.usage import find_usage_differences, fold_usage
from tests.factories.workspace import Workspace

TEXTS = tuple(f"text {'x' * n}" for n in range(5))
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("create_document", "create_document", "delete_document", "insert_many"),
                *("roll_back", "fold", "predict", "repeat_predictions"),
                *("create_schema", "toggle_schema", "delete_schema"),
                *("create_webhook", "delete_webhook", "create_connector", "delete_connector"),
                *("add_member", "remove_member"),
            ]
        ),
        st.integers(0, 9),
    ),
    max_size=25,
)
PREDICT = """
INSERT INTO predictions (organization_id, id, artifact_id, schema_id, schema_version_id, status,
    tags, pages, prompt_tokens, completion_tokens, created_at, updated_at)
SELECT :org, CAST(:id AS uuid), CAST(:artifact AS uuid), s.id, s.current_version_id, 'queued', '[]',
    0, 0, 0, now(), now()
FROM schemas s WHERE s.current_version_id IS NOT NULL LIMIT 1
"""
COMPLETE = """
UPDATE predictions SET status = 'completed', pages = :pages, completed_at = now()
WHERE id = CAST(:id AS uuid)
"""


class Model:
    """An organization, and what its meters must show."""

    def __init__(self, app: Flask) -> None:
        self.org = make_org(app)
        self.workspace = Workspace(self.org)
        self.api = self.org.api("owner")
        self.added: Counter[str] = Counter({Meter.MEMBERS: len(self.org.users)})
        self.removed: Counter[str] = Counter()
        self.documents: dict[str, tuple[str, int]] = {}
        self.schemas: dict[str, bool] = {}
        self.ids: dict[str, list[str]] = {"webhooks": [], "connectors": []}
        self.members: list[UUID] = []
        self.predictions: list[str] = []

    def create_document(self, n: int) -> None:
        content = TEXTS[n % len(TEXTS)]
        answer = self.api.post("/artifacts", json={"name": "n", "text": content})
        assert answer.status_code == (409 if content in self.documents else 201)
        if answer.status_code == 201:
            self.documents[content] = (answer.json["data"]["id"], len(content))
            self.added.update({Meter.DOCUMENTS: 1, Meter.STORED_BYTES: len(content)})

    def delete_document(self, n: int) -> None:
        if self.documents:
            content = sorted(self.documents)[n % len(self.documents)]
            artifact_id, size = self.documents.pop(content)
            assert self.api.delete(f"/artifacts/{artifact_id}").status_code == 204
            self.removed.update({Meter.DOCUMENTS: 1, Meter.STORED_BYTES: size})

    def insert_many(self, n: int) -> None:
        insert_artifacts(self.org, n)
        self.added.update({Meter.DOCUMENTS: n, Meter.STORED_BYTES: n})

    def roll_back(self, n: int) -> None:
        assignee = str(self.org.users["labeler"])
        values = {"org": self.org.id, "schema": None, "number": n + 1, "assignee": assignee}
        with self.org.app.app_context(), tenancy.organization(self.org.id):
            insert = text(INSERT)
            db.session().execute(insert, {**values, "start": "2026-01-30T22:00:00Z"})
            db.session().execute(text("DELETE FROM memberships WHERE role = 'viewer'"))
            db.session().rollback()

    def fold(self, _: int) -> None:
        fold_usage(self.org.app)

    def create_schema(self, n: int) -> None:
        is_active = n % 2 == 0
        schema_id = self.workspace.schema(status="active" if is_active else "inactive")
        self.schemas[str(schema_id)] = is_active
        self.added[Meter.ACTIVE_SCHEMAS] += is_active

    def toggle_schema(self, n: int) -> None:
        for schema_id in sorted(self.schemas)[n % 3 :][:1]:
            is_active = not self.schemas[schema_id]
            action = "activate" if is_active else "deactivate"
            for _ in range(2):
                assert self.api.post(f"/schemas/{schema_id}/{action}", json={}).status_code == 200
            self.schemas[schema_id] = is_active
            (self.added if is_active else self.removed)[Meter.ACTIVE_SCHEMAS] += 1

    def delete_schema(self, n: int) -> None:
        for schema_id in sorted(self.schemas)[n % 3 :][:1]:
            self.removed[Meter.ACTIVE_SCHEMAS] += self.schemas.pop(schema_id)
            run_sql(self.org, "DELETE FROM schemas WHERE id = CAST(:id AS uuid)", id=schema_id)

    def predict(self, n: int) -> None:
        for artifact_id, _ in [self.documents[c] for c in sorted(self.documents)][:1]:
            prediction_id = str(uuid7())
            if not self.schemas:
                return
            run_sql(self.org, PREDICT, id=prediction_id, artifact=artifact_id)
            run_sql(self.org, COMPLETE, id=prediction_id, pages=n)
            self.predictions.append(prediction_id)
            self.added[Meter.AI_PAGES] += n

    def repeat_predictions(self, n: int) -> None:
        for prediction_id in self.predictions:
            run_sql(self.org, COMPLETE, id=prediction_id, pages=n)

    def _create(self, kind: str, body: dict[str, Any]) -> None:
        self.ids[kind].append(get_data(self.api.post(f"/{kind}", json=body), 201)["id"])
        self.added[kind] += 1

    def _delete(self, kind: str, n: int) -> None:
        if self.ids[kind]:
            record_id = self.ids[kind].pop(n % len(self.ids[kind]))
            assert self.api.delete(f"/{kind}/{record_id}").status_code == 204
            self.removed[kind] += 1

    def create_webhook(self, _: int) -> None:
        self._create("webhooks", {"url": "http://127.0.0.2:9/x", "events": ["tag_set.accepted"]})

    def delete_webhook(self, n: int) -> None:
        self._delete("webhooks", n)

    def create_connector(self, n: int) -> None:
        self._create("connectors", {"name": f"Inbox {n}", "type": "local", "settings": {}})

    def delete_connector(self, n: int) -> None:
        self._delete("connectors", n)

    def add_member(self, _: int) -> None:
        self.members.append(self.org.add_user(uuid7().hex, "labeler"))
        self.added[Meter.MEMBERS] += 1

    def remove_member(self, n: int) -> None:
        if self.members:
            user_id = self.members.pop(n % len(self.members))
            path = f"/organizations/{self.org.slug}/members/{user_id}"
            assert self.api.delete(path).status_code == 204
            self.removed[Meter.MEMBERS] += 1

    def check(self) -> None:
        assert find_usage_differences(self.org) == []
        meters = self.api.get("/billing/usage").json["data"]["meters"]
        for one in meters:
            meter = Meter(one["meter"])
            level = self.added[meter] - self.removed[meter]
            expected = self.added[meter] if meter.is_monthly else level
            assert one["used"] == expected, meter


@examples(25)
@given(STEPS)
def test_meters_equal_a_recount(app: Flask, steps: list[tuple[str, int]]) -> None:
    model = Model(app)
    for name, number in steps:
        getattr(model, name)(number)
    model.check()
    fold_usage(app)
    model.check()


def test_a_meter_that_misses_a_change_is_noticed(org: Org) -> None:
    insert_artifacts(org, 3)
    run_sql(org, "DELETE FROM usage_changes WHERE organization_id = :org AND meter = :meter",
            meter=Meter.DOCUMENTS)  # fmt: skip
    [difference] = find_usage_differences(org)
    assert difference == (org.slug, Meter.DOCUMENTS, 3, 0)


@pytest.fixture
def erased(app: Flask) -> Org:
    """An organization that is due to be erased."""
    org = make_org(app)
    insert_artifacts(org, 30)
    fold_usage(app)
    insert_artifacts(org, 30)
    answer = org.api("owner").post(f"/organizations/{org.slug}/close", json={"slug": org.slug})
    assert answer.status_code == 202, answer.json
    run_sql(org, "UPDATE organizations SET erase_after = closed_at WHERE id = :org")
    return org


def test_erasing_leaves_no_meter(erased: Org) -> None:
    with (
        erased.app.app_context(),
        tenancy.across_organizations(reason="as the job does"),
    ):

        def checkpoint() -> None:
            # The periodic job folds while the organization is being erased.
            db.session().commit()
            db.session().execute(text("SELECT fold_usage(100)"))
            db.session().commit()

        erasing.erase(erased.id, checkpoint)
        db.session().commit()
    fold_usage(erased.app)
    for table in ("usage_changes", "usage_days", "usage_settlements", "usage_warnings"):
        sql = f"SELECT count(*) AS n FROM {table} WHERE organization_id = :org"
        assert run_sql(erased, sql)[0].n == 0, table


def test_only_changes_of_a_quantity_run_a_trigger(app: Flask) -> None:
    """Labeling, which updates documents and tag sets, runs no trigger of meters."""
    sql = """
    SELECT c.relname, t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE t.tgname LIKE 'meter\\_%' ORDER BY 1, 2
    """
    with app.app_context():
        rows = [tuple(row) for row in db.session().execute(text(sql))]
    tables = ("artifacts", "connectors", "memberships", "prediction_usage", "schemas", "webhooks")
    expected = [(table, f"meter_{event}") for table in tables for event in ("delete", "insert")]
    updated = [("schemas", "meter_active_schemas_update"), ("webhooks", "meter_webhooks_update")]
    assert rows == sorted([*expected, *updated])


def test_memberships_that_end_with_an_account_are_metered(org: Org) -> None:
    user_id = org.add_user("leaving", "labeler")
    with org.app.app_context(), db.transaction() as session:
        # No organization is bound, as when an account is deleted.
        session.execute(text("DELETE FROM users WHERE id = :id"), {"id": user_id})
    assert find_usage_differences(org) == []
    meter = org.api("viewer").get("/billing/usage").json["data"]["meters"][0]
    assert (meter["meter"], meter["used"]) == (Meter.MEMBERS, len(org.users) - 1)
