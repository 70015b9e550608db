"""Ten failures in a row: one deactivation, one notification of each owner; and the way back."""

import threading
from pathlib import Path
from typing import Any

from flask import Flask

from app.kit import container
from tests.delivery.webhooks.conftest import Answer, run_dispatchers
from tests.factories.waiting import wait_until

BROKEN = Answer(500, b"out of order")


def test_ten_failures_in_a_row_deactivate_once(app: Flask, hooks: Any) -> None:
    second = hooks.org.add_user("second", "owner")
    created = hooks.create()
    hooks.receiver.add_responses("/hook", BROKEN)
    hooks.deliver_events(40)
    webhook = hooks.get(created)
    assert (webhook["active"], webhook["consecutive_failures"]) == (False, 10)
    assert "500" in webhook["disabled_reason"]
    assert webhook["last_status_code"] == 500
    assert len(hooks.receiver.received) == 10, "and nothing more was sent"
    statuses = [d["status"] for d in hooks.list_deliveries(created)]
    assert statuses == ["abandoned"] * 40
    notifications = hooks.sql(
        "SELECT user_id, kind, body, link FROM notifications WHERE organization_id = :org"
    )
    assert {row.user_id for row in notifications} == {hooks.org.users["owner"], second}
    assert len(notifications) == 2
    assert {row.kind for row in notifications} == {"webhook_deactivated"}
    assert {row.link for row in notifications} == {f"/api/v1/webhooks/{created['id']}"}
    hooks.emit(3)
    hooks.retry()
    assert len(hooks.receiver.received) == 10


def test_the_owners_get_mail(app: Flask, hooks: Any, work: Any) -> None:
    created = hooks.create()
    hooks.receiver.add_responses("/hook", BROKEN)
    hooks.deliver_events(10)
    work()
    mails = [
        mail
        for mail in (container.settings().data_dir / "mail").glob("*.eml")
        if created["id"] in mail.read_text(encoding="utf-8")
    ]
    (owner,) = hooks.sql(
        "SELECT email FROM users JOIN memberships m ON m.user_id = users.id"
        " WHERE m.organization_id = :org AND m.role = 'owner'"
    )
    assert len(mails) == 1
    text = Path(mails[0]).read_text(encoding="utf-8")
    assert f"To: {owner.email}" in text
    assert "deactivated" in text


def test_deliverers_that_see_failures_at_once_deactivate_once(app: Flask, hooks: Any) -> None:
    created, gate = hooks.create(), threading.Event()
    hooks.receiver.add_responses("/hook", Answer(500, gate=gate))
    hooks.create_deliveries(60)
    with run_dispatchers(app, 3) as dispatchers:
        wait_until(lambda: len(hooks.receiver.received) == 6)
        hooks.update("webhooks", "consecutive_failures = 7")
        gate.set()
        assert all(dispatcher.wait_until_idle(30) for dispatcher in dispatchers)
    webhook = hooks.get(created)
    assert (webhook["active"], webhook["consecutive_failures"]) == (False, 10)
    notifications = hooks.sql("SELECT user_id FROM notifications WHERE organization_id = :org")
    assert [row.user_id for row in notifications] == [hooks.org.users["owner"]]
    assert {d["status"] for d in hooks.list_deliveries(created)} == {"abandoned"}


def test_activating_forgets_the_failures(hooks: Any) -> None:
    created = hooks.create()
    hooks.receiver.add_responses("/hook", *[BROKEN] * 10, Answer())
    hooks.deliver_events(12)
    assert hooks.get(created)["active"] is False
    activated = hooks.act(created, "activate")
    assert (activated["active"], activated["consecutive_failures"]) == (True, 0)
    assert activated["disabled_reason"] is None
    hooks.retry()
    assert len(hooks.receiver.received) == 10, "what was abandoned stays so by itself"
    for delivery in hooks.list_deliveries(created):
        hooks.redeliver(created, delivery)
    hooks.deliver()
    assert {d["status"] for d in hooks.list_deliveries(created)} == {"delivered"}
    assert len(hooks.receiver.received) == 22


def test_failures_of_test_deliveries_do_not_count(hooks: Any) -> None:
    created = hooks.create()
    hooks.receiver.add_responses("/hook", *[BROKEN] * 14, Answer())
    hooks.deliver_events(2)
    for _ in range(12):
        hooks.act(created, "test")
        hooks.deliver()
    webhook = hooks.get(created)
    assert (webhook["active"], webhook["consecutive_failures"]) == (True, 2)
    assert webhook["last_status_code"] == 500
    hooks.act(created, "test")
    hooks.deliver()
    assert hooks.list_deliveries(created)[0]["status"] == "delivered"
    assert hooks.get(created)["consecutive_failures"] == 0, "any successful delivery resets it"


def test_deactivating_abandons_what_waits(hooks: Any) -> None:
    created = hooks.create()
    hooks.receiver.add_responses("/hook", BROKEN, Answer())
    hooks.deliver_events()
    hooks.act(created, "deactivate")
    delivery = hooks.get_only_delivery(created)
    assert (delivery["status"], delivery["next_attempt_at"]) == ("abandoned", None)
    hooks.retry()
    assert len(hooks.receiver.received) == 1
    hooks.act(created, "activate")
    hooks.redeliver(created, delivery)
    hooks.deliver()
    assert hooks.get_only_delivery(created)["status"] == "delivered"


def test_a_test_delivery_to_a_deactivated_webhook_arrives(hooks: Any) -> None:
    created = hooks.create()
    hooks.receiver.add_responses("/hook", *[BROKEN] * 10, Answer(204))
    hooks.deliver_events(10)
    assert hooks.get(created)["consecutive_failures"] == 10
    hooks.act(created, "test")
    hooks.deliver()
    assert hooks.list_deliveries(created, event="test")[0]["status"] == "delivered"
    assert hooks.get(created)["active"] is False
    hooks.act(created, "activate")
    hooks.deliver_events()
    assert hooks.list_deliveries(created)[0]["status"] == "delivered"
