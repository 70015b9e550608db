"""Test deliveries, redelivery, rotated secrets, and several workers at once."""

import json
from functools import partial
from typing import Any

import pytest
from flask import Flask
from jsonschema import Draft202012Validator
from standardwebhooks.webhooks import WebhookVerificationError

from app.delivery.webhooks.catalog import CATALOG, SUBSCRIBABLE
from app.kit import container
from app.kit.jobs.relay import Relay
from tests.delivery.webhooks.conftest import build_verifier, compute_signature, run_dispatchers
from tests.factories.errors import check_error
from tests.factories.queueing import run_concurrently


def test_a_test_delivery_is_queued_then_sent(hooks: Any) -> None:
    created = hooks.create()
    queued = hooks.act(created, "test")
    assert (queued["status"], queued["event"], queued["test"]) == ("pending", "test", True)
    assert queued["attempts"] == []
    assert hooks.receiver.received == []
    hooks.deliver()
    (request,) = hooks.receiver.received
    body = json.loads(request.body)
    assert request.headers["X-Service-Event"] == body["event"] == "test"
    assert body["data"] == {"message": CATALOG["test"].sample["data"]["message"]}
    Draft202012Validator(CATALOG["test"].schema).validate(body)
    assert request.headers["X-Service-Signature"] == compute_signature(
        created["secret"], request.body
    )
    assert hooks.list_deliveries(created)[0]["status"] == "delivered"


def test_a_deactivated_webhook_can_be_tested(hooks: Any) -> None:
    created = hooks.create()
    for action in ("test", "deactivate", "test"):
        hooks.act(created, action)
    hooks.deliver()
    assert [d["status"] for d in hooks.list_deliveries(created)] == ["delivered", "delivered"]
    assert hooks.get(created)["active"] is False


def test_redelivery_sends_the_same_bytes_under_the_same_id(hooks: Any) -> None:
    created = hooks.create()
    hooks.deliver_events()
    queued = hooks.redeliver(created, hooks.get_only_delivery(created))
    assert (queued["status"], queued["round"]) == ("pending", 2)
    hooks.deliver()
    first, second = hooks.receiver.received
    assert second.body == first.body
    assert second.headers["X-Service-Delivery"] == first.headers["X-Service-Delivery"]
    assert second.headers["X-Service-Signature"] == first.headers["X-Service-Signature"]
    assert second.headers["X-Service-Attempt"] == "2"
    (delivery,) = hooks.list_deliveries(created)
    assert delivery["status"] == "delivered"
    assert [a["number"] for a in delivery["attempts"]] == [1, 2]


def test_what_is_on_its_way_is_not_redelivered(hooks: Any) -> None:
    created = hooks.create()
    queued = hooks.act(created, "test")
    path = f"/webhooks/{created['id']}/deliveries/{queued['id']}/redeliver"
    check_error(hooks.org.api("admin").post(path), 409, "conflict", details={"state": "pending"})


def test_a_deactivated_webhook_gets_no_redelivery(hooks: Any) -> None:
    created = hooks.create()
    hooks.deliver_events()
    api, path = hooks.org.api("admin"), f"/webhooks/{created['id']}"
    (delivery,) = hooks.list_deliveries(created)
    api.post(path + "/deactivate")
    answer = api.post(f"{path}/deliveries/{delivery['id']}/redeliver")
    assert (answer.status_code, answer.json["error"]["details"]) == (409, {"state": "deactivated"})
    assert hooks.list_deliveries(created) == [delivery]


def test_after_a_rotation_both_secrets_sign_for_a_day(hooks: Any) -> None:
    created = hooks.create()
    rotated = hooks.act(created, "rotate-secret")
    new, old = rotated["secret"], created["secret"]
    assert new != old
    assert len(new) == 64
    assert rotated["previous_secret_expires_at"] is not None
    hooks.deliver_events()
    request = hooks.receiver.received[-1]
    assert request.headers["X-Service-Signature"] == compute_signature(new, request.body)
    assert len(request.headers["webhook-signature"].split(" ")) == 2
    for secret in (new, old):
        build_verifier(secret).verify(request.body, request.headers)

    hooks.update("webhooks", "previous_secret_expires_at = now() - interval '1 second'")
    hooks.deliver_events()
    request = hooks.receiver.received[-1]
    build_verifier(new).verify(request.body, request.headers)
    with pytest.raises(WebhookVerificationError):
        build_verifier(old).verify(request.body, request.headers)


def test_a_rotation_is_the_same_only_of_the_same_revision(hooks: Any) -> None:
    created = hooks.create()
    api, path = hooks.org.api("admin"), f"/webhooks/{created['id']}/rotate-secret"
    key = {"Idempotency-Key": "rotate"}
    read = {"revision": created["revision"]}
    first = api.post(path, read, headers=key)
    assert first.status_code == 200
    again = api.post(path, read, headers=key).json["data"]
    assert again == first.json["data"] | {"secret": None}
    other = api.post(path, {"revision": created["revision"] + 1}, headers=key)
    assert (other.status_code, other.json["error"]["field"]) == (409, "Idempotency-Key")


def test_a_second_rotation_forgets_the_first_secret(hooks: Any) -> None:
    created = hooks.create()
    second, third = (hooks.act(created, "rotate-secret")["secret"] for _ in range(2))
    hooks.deliver_events()
    request = hooks.receiver.received[-1]
    for secret in (second, third):
        build_verifier(secret).verify(request.body, request.headers)
    with pytest.raises(WebhookVerificationError):
        build_verifier(created["secret"]).verify(request.body, request.headers)


def test_many_relays_at_once_deliver_each_once(app: Flask, hooks: Any) -> None:
    created = hooks.create(events=list(SUBSCRIBABLE))
    hooks.emit(150)

    def build_relay() -> Relay:
        connection = container.current().redis(timeout=5)
        return Relay(app, lambda: connection)

    def run(relay: Relay) -> int:
        return sum(relay.run_once() for _ in range(3))

    relays = [build_relay() for _ in range(4)]
    assert sum(run_concurrently(*(partial(run, relay) for relay in relays))) >= 1
    hooks.deliver()
    ids = [r.headers["X-Service-Delivery"] for r in hooks.receiver.received]
    assert len(ids) == len(set(ids)) == 150
    assert len(hooks.list_deliveries(created, status="delivered", page_size=1000)) == 150


def test_two_deliverers_at_once_deliver_each_once(app: Flask, hooks: Any) -> None:
    created = hooks.create()
    hooks.create_deliveries(100)
    with run_dispatchers(app, 2, thread_count=8) as dispatchers:
        assert all(dispatcher.wait_until_idle(30) for dispatcher in dispatchers)
    ids = [r.headers["X-Service-Delivery"] for r in hooks.receiver.received]
    assert len(ids) == len(set(ids)) == 100
    assert len(hooks.list_deliveries(created, status="delivered", page_size=1000)) == 100
