"""From an event to a signed request, its record, and sending it again."""

import base64
import hashlib
import hmac
import json
import threading
from datetime import datetime
from typing import Any

import pytest
from flask import Flask
from jsonschema import Draft202012Validator
from standardwebhooks.webhooks import Webhook as StandardWebhook
from standardwebhooks.webhooks import WebhookVerificationError

from app.delivery.webhooks.catalogue import CATALOGUE, SUBSCRIBABLE
from app.delivery.webhooks.dispatcher import Dispatcher
from app.kit import container, db, events, jobs, metrics, tenancy
from app.kit.jobs.relay import Relay
from tests.factories import Org

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


def _standard(secret: str) -> StandardWebhook:
    return StandardWebhook("whsec_" + base64.b64encode(secret.encode()).decode())


def _hmac(secret: str, body: bytes) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def test_a_delivery_as_the_receiver_sees_it(hooks: Any, deliver: Any) -> None:
    created = hooks.create()
    data = CATALOGUE["artifact.ingested"].sample["data"]
    hooks.emit(data=data)
    deliver()
    (request,) = hooks.receiver.received
    assert set(request.headers) >= CONTRACT_HEADERS
    body = json.loads(request.body)
    assert list(body) == ["event", "timestamp", "org_slug", "data"]
    assert body["event"] == request.headers["X-Service-Event"] == "artifact.ingested"
    assert body["org_slug"] == hooks.org.slug
    assert body["data"] == {"n": 0, **data}
    assert body["timestamp"].endswith("Z")
    assert datetime.fromisoformat(body["timestamp"]).utcoffset() is not None
    Draft202012Validator(CATALOGUE["artifact.ingested"].schema).validate(body)
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["X-Service-Signature"] == _hmac(created["secret"], request.body)
    assert request.headers["X-Service-Attempt"] == "1"
    (shown,) = hooks.deliveries(created)
    assert request.headers["X-Service-Delivery"] == request.headers["webhook-id"] == shown["id"]
    assert _standard(created["secret"]).verify(request.body, request.headers) == body
    with pytest.raises(WebhookVerificationError):
        _standard(created["secret"]).verify(request.body + b" ", request.headers)
    with pytest.raises(WebhookVerificationError):
        _standard("0" * 64).verify(request.body, request.headers)


def test_a_delivery_as_the_api_shows_it(hooks: Any, deliver: Any) -> None:
    created = hooks.create()
    hooks.emit()
    deliver()
    (request,) = hooks.receiver.received
    (listed,) = hooks.deliveries(created)
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
    shown = hooks.get(created)
    assert shown["last_status_code"] == 200
    assert shown["last_triggered_at"] >= attempt["at"]


def test_webhooks_hear_what_they_subscribe_to(hooks: Any, deliver: Any, other_org: Org) -> None:
    hooks.create("/two", events=["export.completed", "drift.detected"])
    hooks.create("/all", events=list(SUBSCRIBABLE))
    type(hooks)(other_org, hooks.receiver).create("/stranger", events=list(SUBSCRIBABLE))
    for name in (*SUBSCRIBABLE, "test", "artifact.deleted"):
        hooks.emit(name=name)
    deliver()
    heard = [r.headers["X-Service-Event"] for r in hooks.receiver.at("/two")]
    assert sorted(heard) == ["drift.detected", "export.completed"]
    heard = [r.headers["X-Service-Event"] for r in hooks.receiver.at("/all")]
    assert sorted(heard) == sorted(SUBSCRIBABLE)
    assert hooks.receiver.at("/stranger") == []


def test_the_list_is_filtered_and_paged(hooks: Any, deliver: Any) -> None:
    created = hooks.create(events=["export.completed", "drift.detected"])
    hooks.emit(3, name="export.completed")
    hooks.emit(2, name="drift.detected")
    deliver()
    assert len(hooks.deliveries(created, event="drift.detected")) == 2
    assert len(hooks.deliveries(created, status="delivered")) == 5
    assert hooks.deliveries(created, status="pending") == []
    api, path = hooks.org.api("admin"), f"/webhooks/{created['id']}/deliveries"
    first = api.get(path, query_string={"page_size": 3}).json
    rest = {"page_size": 3, "cursor": first["meta"]["next_cursor"]}
    second = api.get(path, query_string=rest).json
    assert first["meta"]["total"] == 5
    assert first["data"] + second["data"] == hooks.deliveries(created)
    assert all(len(delivery["attempts"]) == 1 for delivery in first["data"])
    assert api.get(path, query_string={"status": "lost"}).status_code == 422


def test_handing_an_event_out_twice_makes_no_second_delivery(hooks: Any, deliver: Any) -> None:
    created = hooks.create()
    (event_id,) = hooks.emit()
    deliver()
    values = {"id": str(event_id)}
    hooks.sql(
        "UPDATE jobs SET due_at = now(), status = 'queued', finished_at = NULL"
        " WHERE organization_id = :org AND event_id = CAST(:id AS uuid)",
        **values,
    )
    deliver()
    ran = hooks.sql(
        "SELECT attempts FROM jobs WHERE organization_id = :org AND event_id = CAST(:id AS uuid)",
        **values,
    )
    assert [row.attempts for row in ran] == [2]
    assert len(hooks.deliveries(created)) == 1
    assert len(hooks.receiver.received) == 1


def test_the_request_that_caused_it_goes_along(hooks: Any, deliver: Any) -> None:
    created = hooks.create()
    with hooks.org.app.app_context(), tenancy.organization(hooks.org.id), db.transaction():
        events.set_request_id("request-7")
        events.emit("artifact.ingested", {})
    deliver()
    assert hooks.receiver.received[0].headers["X-Request-ID"] == "request-7"
    assert hooks.deliveries(created)[0]["request_id"] == "request-7"


def test_a_test_delivery_is_queued_then_sent(hooks: Any, deliver: Any) -> None:
    created = hooks.create()
    path = f"/webhooks/{created['id']}/test"
    answer = hooks.org.api("admin").post(path)
    assert answer.status_code == 202
    queued = answer.json["data"]
    assert (queued["status"], queued["event"], queued["test"]) == ("pending", "test", True)
    assert queued["attempts"] == []
    assert hooks.receiver.received == []
    deliver()
    (request,) = hooks.receiver.received
    body = json.loads(request.body)
    assert request.headers["X-Service-Event"] == body["event"] == "test"
    assert body["data"] == {"message": CATALOGUE["test"].sample["data"]["message"]}
    Draft202012Validator(CATALOGUE["test"].schema).validate(body)
    assert request.headers["X-Service-Signature"] == _hmac(created["secret"], request.body)
    assert hooks.deliveries(created)[0]["status"] == "delivered"


def test_a_deactivated_webhook_can_be_tested(hooks: Any, deliver: Any) -> None:
    created = hooks.create()
    api, path = hooks.org.api("admin"), f"/webhooks/{created['id']}"
    api.post(path + "/test")
    api.post(path + "/deactivate")
    api.post(path + "/test")
    deliver()
    assert [d["status"] for d in hooks.deliveries(created)] == ["delivered", "delivered"]
    assert hooks.get(created)["active"] is False


def test_redelivery_sends_the_same_bytes_under_the_same_id(hooks: Any, deliver: Any) -> None:
    created = hooks.create()
    hooks.emit()
    deliver()
    (delivery,) = hooks.deliveries(created)
    path = f"/webhooks/{created['id']}/deliveries/{delivery['id']}/redeliver"
    answer = hooks.org.api("admin").post(path)
    assert answer.status_code == 202
    assert (answer.json["data"]["status"], answer.json["data"]["round"]) == ("pending", 2)
    deliver()
    first, second = hooks.receiver.received
    assert second.body == first.body
    assert second.headers["X-Service-Delivery"] == first.headers["X-Service-Delivery"]
    assert second.headers["X-Service-Signature"] == first.headers["X-Service-Signature"]
    assert second.headers["X-Service-Attempt"] == "2"
    (delivery,) = hooks.deliveries(created)
    assert delivery["status"] == "delivered"
    assert [a["number"] for a in delivery["attempts"]] == [1, 2]


def test_what_is_on_its_way_is_not_redelivered(hooks: Any) -> None:
    created = hooks.create()
    api, path = hooks.org.api("admin"), f"/webhooks/{created['id']}"
    queued = api.post(path + "/test").json["data"]
    answer = api.post(f"{path}/deliveries/{queued['id']}/redeliver")
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "conflict")
    assert answer.json["error"]["details"] == {"state": "pending"}


def test_a_deactivated_webhook_gets_no_redelivery(hooks: Any, deliver: Any) -> None:
    created = hooks.create()
    hooks.emit()
    deliver()
    api, path = hooks.org.api("admin"), f"/webhooks/{created['id']}"
    (delivery,) = hooks.deliveries(created)
    api.post(path + "/deactivate")
    answer = api.post(f"{path}/deliveries/{delivery['id']}/redeliver")
    assert (answer.status_code, answer.json["error"]["details"]) == (409, {"state": "deactivated"})
    assert hooks.deliveries(created) == [delivery]


def test_after_a_rotation_both_secrets_sign_for_a_day(hooks: Any, deliver: Any) -> None:
    created = hooks.create()
    api, path = hooks.org.api("admin"), f"/webhooks/{created['id']}"
    answer = api.post(path + "/rotate-secret")
    assert answer.status_code == 200
    new, old = answer.json["data"]["secret"], created["secret"]
    assert new != old
    assert len(new) == 64
    assert answer.json["data"]["previous_secret_expires_at"] is not None
    hooks.emit()
    deliver()
    request = hooks.receiver.received[-1]
    assert request.headers["X-Service-Signature"] == _hmac(new, request.body)
    assert len(request.headers["webhook-signature"].split(" ")) == 2
    for secret in (new, old):
        _standard(secret).verify(request.body, request.headers)

    hooks.sql(
        "UPDATE webhooks SET previous_secret_expires_at = now() - interval '1 second'"
        " WHERE organization_id = :org"
    )
    hooks.emit()
    deliver()
    request = hooks.receiver.received[-1]
    _standard(new).verify(request.body, request.headers)
    with pytest.raises(WebhookVerificationError):
        _standard(old).verify(request.body, request.headers)


def test_a_second_rotation_forgets_the_first_secret(hooks: Any, deliver: Any) -> None:
    created = hooks.create()
    api, path = hooks.org.api("admin"), f"/webhooks/{created['id']}"
    second = api.post(path + "/rotate-secret").json["data"]["secret"]
    third = api.post(path + "/rotate-secret").json["data"]["secret"]
    hooks.emit()
    deliver()
    request = hooks.receiver.received[-1]
    for secret in (second, third):
        _standard(secret).verify(request.body, request.headers)
    with pytest.raises(WebhookVerificationError):
        _standard(created["secret"]).verify(request.body, request.headers)


def test_many_relays_at_once_deliver_each_once(app: Flask, hooks: Any, deliver: Any) -> None:
    created = hooks.create(events=list(SUBSCRIBABLE))
    hooks.emit(150)
    barrier = threading.Barrier(4)
    moved: list[int] = []

    def relay() -> None:
        connection = container.current().redis(timeout=5)
        loop = Relay(app, lambda: connection)
        barrier.wait(10)
        moved.extend(loop.round() for _ in range(3))

    deliver_threads = [threading.Thread(target=relay) for _ in range(4)]
    for thread in deliver_threads:
        thread.start()
    for thread in deliver_threads:
        thread.join(30)
    assert sum(moved) >= 150
    deliver()
    ids = [r.headers["X-Service-Delivery"] for r in hooks.receiver.received]
    assert len(ids) == len(set(ids)) == 150
    assert len(hooks.deliveries(created, status="delivered", page_size=1000)) == 150


def test_two_deliverers_at_once_deliver_each_once(app: Flask, hooks: Any) -> None:
    created = hooks.create()
    hooks.emit(100)
    rows = hooks.claim()
    assert len(rows) == 100
    others = [Dispatcher(app, threads=8) for _ in range(2)]
    for other in others:
        other.start()
        other.accept(rows)
    assert all(other.settle(30) for other in others)
    for other in others:
        other.stop(10)
    ids = [r.headers["X-Service-Delivery"] for r in hooks.receiver.received]
    assert len(ids) == len(set(ids)) == 100
    assert len(hooks.deliveries(created, status="delivered", page_size=1000)) == 100


def test_old_deliveries_and_secrets_are_forgotten(hooks: Any, deliver: Any, app: Flask) -> None:
    created = hooks.create()
    hooks.org.api("admin").post(f"/webhooks/{created['id']}/rotate-secret")
    hooks.emit(2)
    deliver()
    old, kept = hooks.deliveries(created)
    hooks.sql(
        "UPDATE webhook_deliveries SET updated_at = now() - interval '31 days'"
        " WHERE organization_id = :org AND id = CAST(:id AS uuid)",
        id=old["id"],
    )
    hooks.sql(
        "UPDATE webhooks SET previous_secret_expires_at = now() - interval '1 second'"
        " WHERE organization_id = :org"
    )
    everything = tenancy.across_organizations(reason="a test is the schedule")
    with app.app_context(), everything, db.transaction():
        jobs.enqueue("webhooks.tidy", {}, organization_id=None)
    deliver()
    assert [d["id"] for d in hooks.deliveries(created)] == [kept["id"]]
    assert hooks.get(created)["previous_secret_expires_at"] is None
    secrets = hooks.sql("SELECT previous_secret FROM webhooks WHERE organization_id = :org")
    assert [row.previous_secret for row in secrets] == [None]


def test_deliveries_are_counted(hooks: Any, deliver: Any) -> None:
    hooks.create()
    before = metrics.DELIVERIES.labels("delivered")._value.get()
    hooks.emit(3)
    deliver()
    assert metrics.DELIVERIES.labels("delivered")._value.get() == before + 3
    hooks.emit(2)
    hooks.claim()
    page = hooks.org.app.test_client().get("/metrics").text
    assert 'labeling_queue_depth{queue="webhooks"}' in page
    assert 'labeling_queue_oldest_due_seconds{queue="webhooks"}' in page
    assert 'labeling_queue_depth{queue="default"}' in page
