"""From an event to a signed request, its record, and sending it again."""

import json
from datetime import datetime
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from standardwebhooks.webhooks import WebhookVerificationError

from app.delivery.webhooks.catalog import CATALOG, SUBSCRIBABLE
from app.kit import events, jobs
from tests.delivery.webhooks.conftest import build_verifier, compute_signature
from tests.factories import Org
from tests.factories.pages import read_pages
from tests.factories.scrape import build_series_key, get_metric, scrape

CONTRACT_HEADERS = {
    "Content-Type",
    "User-Agent",
    "X-Service-Event",
    "X-Service-Signature",
    "X-Service-Delivery",
    "X-Service-Attempt",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
}


def test_a_delivery_as_the_receiver_sees_it(hooks: Any) -> None:
    created = hooks.create()
    data = CATALOG["artifact.ingested"].sample["data"]
    hooks.deliver_events(data=data)
    (request,) = hooks.receiver.received
    assert set(request.headers) >= CONTRACT_HEADERS
    body = json.loads(request.body)
    assert list(body) == ["event", "timestamp", "org_slug", "data"]
    assert body["event"] == request.headers["X-Service-Event"] == "artifact.ingested"
    assert body["org_slug"] == hooks.org.slug
    assert body["data"] == {"n": 0, **data}
    assert body["timestamp"].endswith("Z")
    assert datetime.fromisoformat(body["timestamp"]).utcoffset() is not None
    Draft202012Validator(CATALOG["artifact.ingested"].schema).validate(body)
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["X-Service-Signature"] == compute_signature(
        created["secret"], request.body
    )
    assert request.headers["X-Service-Attempt"] == "1"
    (delivery,) = hooks.list_deliveries(created)
    assert request.headers["X-Service-Delivery"] == request.headers["webhook-id"] == delivery["id"]
    assert build_verifier(created["secret"]).verify(request.body, request.headers) == body
    with pytest.raises(WebhookVerificationError):
        build_verifier(created["secret"]).verify(request.body + b" ", request.headers)
    with pytest.raises(WebhookVerificationError):
        build_verifier("0" * 64).verify(request.body, request.headers)


def test_a_delivery_as_the_api_shows_it(hooks: Any) -> None:
    created = hooks.create()
    hooks.deliver_events()
    (request,) = hooks.receiver.received
    (listed,) = hooks.list_deliveries(created)
    api = hooks.org.api("admin")
    answer = api.get(f"/webhooks/{created['id']}/deliveries/{listed['id']}")
    assert answer.json["data"] == listed
    assert request.body in answer.data, "the bytes that were sent, not merely an equal object"
    assert (listed["status"], listed["round"], listed["test"]) == ("delivered", 1, False)
    assert listed["next_attempt_at"] is None
    assert listed["delivered_at"] is not None
    (attempt,) = listed["attempts"]
    assert attempt["at"] <= listed["delivered_at"]
    assert attempt["duration_ms"] >= 0
    assert {k: attempt[k] for k in attempt if k not in ("at", "duration_ms")} == {
        "number": 1,
        "status_code": 200,
        "error": None,
        "error_kind": None,
        "response_excerpt": "thanks",
    }
    webhook = hooks.get(created)
    assert webhook["last_status_code"] == 200
    assert webhook["last_triggered_at"] >= attempt["at"]


def test_webhooks_get_only_the_events_they_subscribe_to(hooks: Any, other_org: Org) -> None:
    hooks.create("/two", events=["export.completed", "drift.detected"])
    hooks.create("/all", events=list(SUBSCRIBABLE))
    type(hooks)(other_org, hooks.receiver).create("/stranger", events=list(SUBSCRIBABLE))
    for name in (*SUBSCRIBABLE, "test", "artifact.deleted"):
        hooks.emit(name=name)
    hooks.deliver()
    sent = [r.headers["X-Service-Event"] for r in hooks.receiver.list_requests("/two")]
    assert sorted(sent) == ["drift.detected", "export.completed"]
    sent = [r.headers["X-Service-Event"] for r in hooks.receiver.list_requests("/all")]
    assert sorted(sent) == sorted(SUBSCRIBABLE)
    assert hooks.receiver.list_requests("/stranger") == []


def test_a_webhook_gets_no_events_from_before_its_creation(hooks: Any) -> None:
    earlier = hooks.create("/earlier")
    hooks.emit()
    later = hooks.create("/later")
    hooks.deliver_events(2)
    assert len(hooks.list_deliveries(earlier)) == 3
    assert len(hooks.list_deliveries(later)) == 2


def test_the_list_is_filtered_and_paged(hooks: Any) -> None:
    created = hooks.create(events=["export.completed", "drift.detected"])
    hooks.emit(3, name="export.completed")
    hooks.deliver_events(2, name="drift.detected")
    assert len(hooks.list_deliveries(created, event="drift.detected")) == 2
    assert len(hooks.list_deliveries(created, status="delivered")) == 5
    assert hooks.list_deliveries(created, status="pending") == []
    api, path = hooks.org.api("admin"), f"/webhooks/{created['id']}/deliveries"
    first, second = read_pages(api, f"{path}?page_size=3")
    assert first["meta"]["total"] == 5
    assert first["data"] + second["data"] == hooks.list_deliveries(created)
    assert all(len(delivery["attempts"]) == 1 for delivery in first["data"])
    assert api.get(path, query_string={"status": "lost"}).status_code == 422


def test_handing_an_event_out_twice_makes_no_second_delivery(hooks: Any) -> None:
    created = hooks.create()
    (event_id,) = hooks.emit()
    hooks.deliver()
    job = "event_id = :id AND function = 'webhooks.fan_out'"
    queued = "due_at = now(), status = 'queued', finished_at = NULL"
    hooks.update("jobs", queued, job, id=event_id)
    hooks.deliver()
    ran = hooks.sql(f"SELECT status FROM jobs WHERE {job}", id=event_id)
    assert [row.status for row in ran] == ["completed"]
    assert len(hooks.list_deliveries(created)) == 1
    assert len(hooks.receiver.received) == 1


def test_the_request_that_caused_it_goes_along(hooks: Any) -> None:
    created = hooks.create()
    with hooks.org.transaction():
        events.set_request_id("request-7")
        events.emit("artifact.ingested", {})
    hooks.deliver()
    assert hooks.receiver.received[0].headers["X-Request-ID"] == "request-7"
    assert hooks.list_deliveries(created)[0]["request_id"] == "request-7"


def test_old_deliveries_and_secrets_are_forgotten(hooks: Any) -> None:
    created = hooks.create()
    hooks.act(created, "rotate-secret")
    hooks.deliver_events(2)
    old, kept = hooks.list_deliveries(created)
    aged = "updated_at = now() - interval '31 days'"
    hooks.update("webhook_deliveries", aged, "id = :id", id=old["id"])
    hooks.update("webhooks", "previous_secret_expires_at = now() - interval '1 second'")
    with hooks.as_deliverer():
        jobs.enqueue("webhooks.tidy", {}, organization_id=None)
    hooks.deliver()
    assert [d["id"] for d in hooks.list_deliveries(created)] == [kept["id"]]
    assert hooks.get(created)["previous_secret_expires_at"] is None
    secrets = hooks.sql("SELECT previous_secret FROM webhooks WHERE organization_id = :org")
    assert [row.previous_secret for row in secrets] == [None]


def test_deliveries_are_counted(hooks: Any) -> None:
    hooks.create()
    app = hooks.org.app
    before = get_metric(app, "labeling_deliveries_total", outcome="delivered")
    hooks.deliver_events(3)
    assert get_metric(app, "labeling_deliveries_total", outcome="delivered") == before + 3
    hooks.create_deliveries(2)
    metrics = scrape(app)
    assert build_series_key("labeling_queue_depth", {"queue": "webhooks"}) in metrics
    assert build_series_key("labeling_queue_oldest_due_seconds", {"queue": "webhooks"}) in metrics
    assert build_series_key("labeling_queue_depth", {"queue": "default"}) in metrics
