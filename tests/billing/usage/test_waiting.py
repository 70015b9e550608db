"""Who waits for whom: nobody because of meters, and nobody in a circle because of limits."""

import threading
from functools import partial
from typing import Any

from sqlalchemy import text

from app.documents.artifacts.service import creating_many as artifacts
from app.documents.artifacts.service.creating_many import NewText
from app.kit import db, tenancy
from tests.factories import Org
from tests.factories.counts import insert_artifacts, run_sql
from tests.factories.queueing import run_concurrently
from tests.factories.usage import find_usage_differences, fold_usage, set_plan

LIMIT = 30


def _create(org: Org, number: int) -> Any:
    body = {"name": "n", "text": f"Text number {number}"}
    return org.api("labeler").post("/artifacts", json=body)


def test_writers_and_folding_do_not_wait_for_an_open_transaction(org: Org) -> None:
    insert_artifacts(org, 2)
    opened, done = threading.Event(), threading.Event()

    def hold() -> None:
        with org.app.app_context(), tenancy.organization(org.id):
            db.session().execute(text("DELETE FROM artifacts WHERE size_bytes = 1"))
            opened.set()
            done.wait(60)
            db.session().rollback()

    holder = threading.Thread(target=hold)
    holder.start()
    assert opened.wait(60)
    # All of these would run into their timeouts if they waited.
    assert _create(org, 1).status_code == 201
    fold_usage(org.app)
    answer = org.api("viewer").get("/billing/usage")
    used = {meter["meter"]: meter["used"] for meter in answer.json["data"]["meters"]}
    assert used["documents_per_month"] == 3
    assert find_usage_differences(org) == []
    done.set()
    holder.join()


def test_uploads_and_imports_of_the_same_contents_never_deadlock(org: Org) -> None:
    set_plan(org, "team", {"documents_per_month": LIMIT})

    def upload(start: int) -> None:
        for number in range(start, start + 20):
            assert _create(org, number % 40).status_code in (201, 402, 409)

    def import_texts(start: int) -> None:
        for first in range(start, start + 20, 5):
            texts = [NewText("n", f"Text number {(first + n) % 40}") for n in range(5)]
            prepared = [artifacts.prepare_text(new_text) for new_text in reversed(texts)]
            with org.app.app_context(), tenancy.organization(org.id), db.transaction():
                artifacts.create_from_texts(prepared, created_by=None, ingestion_job_id=None)

    starts = (0, 10, 20, 30)
    run_concurrently(*(partial(call, start) for call in (upload, import_texts) for start in starts))
    rows = run_sql(org, "SELECT count(*) AS n FROM artifacts WHERE organization_id = :org")
    assert rows[0].n == LIMIT
    assert find_usage_differences(org) == []
