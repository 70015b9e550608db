"""Limits hold whatever many do at once."""

import io
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from flask import Flask

from app.billing.plans import queries
from app.kit.plan_limits import Meter
from tests.factories import Org
from tests.factories.queueing import run_concurrently
from tests.factories.usage import find_usage_differences, fold_usage, set_plan

REQUESTS = 16


def run_at_once(send: Callable[[int], Any]) -> list[Any]:
    """Send all requests at the same moment, and return the answers."""
    return run_concurrently(*(partial(send, number) for number in range(REQUESTS)))


def check_one_accepted(answers: list[Any], details: dict[str, Any], status: int = 201) -> None:
    """Check that one request was accepted and that all others got the same refusal."""
    assert Counter(answer.status_code for answer in answers) == {status: 1, 402: REQUESTS - 1}
    for answer in answers:
        if answer.status_code == 402:
            error = answer.json["error"]
            assert error["code"] == "plan_limit_reached"
            assert error["details"] == details


def build_upload(number: int) -> dict[str, Any]:
    content = f"Invoice {number}\nTotal 100 EUR".encode()
    return {"file": (io.BytesIO(content), f"invoice-{number}.txt", "text/plain")}


@pytest.mark.parametrize("folded", [True, False])
def test_one_document_left(app: Flask, org: Org, folded: bool) -> None:
    set_plan(org, "team", {"documents_per_month": 3})
    for number in (100, 101):
        answer = org.api("owner").post("/artifacts", data=build_upload(number))
        assert answer.status_code == 201, answer.json
    if folded:
        fold_usage(app)
    answers = run_at_once(lambda n: org.api("labeler").post("/artifacts", data=build_upload(n)))
    details = {"meter": Meter.DOCUMENTS, "limit": 3, "used": 3, "plan": "team"}
    check_one_accepted(answers, details)
    assert find_usage_differences(org) == []


def test_room_for_one_text(org: Org) -> None:
    texts = [f"Delivery note {number:04}" for number in range(REQUESTS)]
    limit = 2 * len(texts[0]) - 1
    set_plan(org, "free", {"stored_bytes": limit})
    answers = run_at_once(
        lambda n: org.api("labeler").post("/artifacts", json={"name": f"n{n}", "text": texts[n]})
    )
    used = len(texts[0])
    details = {"meter": Meter.STORED_BYTES, "limit": limit, "used": used, "plan": "free"}
    check_one_accepted(answers, details)


def test_one_webhook_left(org: Org) -> None:
    set_plan(org, "business", {"webhooks": 1})
    body = {"url": "http://127.0.0.2:9/x", "events": ["tag_set.accepted"]}
    answers = run_at_once(lambda _: org.api("owner").post("/webhooks", json=body))
    details = {"meter": Meter.WEBHOOKS, "limit": 1, "used": 1, "plan": "business"}
    check_one_accepted(answers, details)


def test_a_request_reads_the_plan_with_its_caller(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document without limits costs no query, and the next request sees another plan."""
    reads: list[None] = []
    get_plan = queries.get_plan

    def note() -> queries.PlanRow:
        reads.append(None)
        return get_plan()

    monkeypatch.setattr(queries, "get_plan", note)
    key = org.key("labeler")
    for number, api in enumerate((org.api("labeler"), key)):
        answer = api.post("/artifacts", json={"name": "n", "text": f"Without {number}"})
        assert answer.status_code == 201
    set_plan(org, "free", {"documents_per_month": 2})
    for number, api in enumerate((org.api("labeler"), key)):
        answer = api.post("/artifacts", json={"name": "n", "text": f"Limited {number}"})
        assert answer.status_code == 402
    assert reads == []
