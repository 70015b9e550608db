"""What is accepted as a webhook, and where its secret is seen."""

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event
from typing import Any
from uuid import uuid4

import pytest

from app.kit import container, logging, outbound_slots
from app.kit.egress import Egress, Policy
from app.kit.ids import uuid7
from tests.delivery.webhooks.conftest import get_error
from tests.factories import Org
from tests.factories.waiting import wait_until

SHOWN = {
    "id",
    "url",
    "events",
    "description",
    "active",
    "consecutive_failures",
    "last_triggered_at",
    "last_status_code",
    "disabled_reason",
    "previous_secret_expires_at",
    "created_at",
    "updated_at",
    "revision",
}
DETAILS = {"statistics", "missed_count", "replayable_until", "replay"}
TABLES = ("webhooks", "webhook_deliveries", "webhook_attempts", "outbox_events", "jobs")
URL = "http://127.0.0.2:9/hook"


def test_create_answers_the_secret_once(hooks: Any) -> None:
    events = ["export.completed", "drift.detected"]
    created = hooks.create(description="for accounting", events=events)
    assert set(created) == SHOWN | {"secret"}
    assert len(created["secret"]) == 64
    assert set(created["secret"]) <= set("0123456789abcdef")
    assert created["active"] is True
    assert created["events"] == events
    assert created["description"] == "for accounting"
    webhook = hooks.get(created)
    assert set(webhook) == SHOWN | DETAILS
    expected = {name: value for name, value in created.items() if name != "secret"}
    assert {name: webhook[name] for name in SHOWN} == expected


def test_no_other_answer_row_or_line_has_the_secret(
    hooks: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    api = hooks.org.api("admin")
    logging.configure("DEBUG", "json")
    try:
        created = hooks.create()
        path = f"/webhooks/{created['id']}"
        api.post(path + "/test")
        hooks.deliver_events()
        answers = [api.get("/webhooks"), api.get(path), api.get(path + "/deliveries")]
        answers += [api.patch(path, json={"description": "x"}), api.post(path + "/deactivate")]
        answers += [api.post(path + "/activate")]
        rotated = api.post(path + "/rotate-secret").json["data"]["secret"]
        answers += [api.get(path)]
    finally:
        logging.configure("WARNING", "json")
    output = "".join(capfd.readouterr())
    assert "job.ran" in output, "the lines were seen"
    for secret in (created["secret"], rotated):
        assert not any(secret in answer.text for answer in answers)
        assert secret not in output
        for table in TABLES:
            rows = hooks.sql(f"SELECT t::text AS line FROM {table} t WHERE organization_id = :org")
            assert not any(secret in row.line for row in rows), table
            assert rows, table


def test_an_idempotency_key_replays_no_secret(hooks: Any) -> None:
    api, key = hooks.org.api("admin"), {"Idempotency-Key": str(uuid7())}
    body = {"url": URL, "events": ["artifact.ingested"]}
    first = api.post("/webhooks", json=body, headers=key)
    again = api.post("/webhooks", json=body, headers=key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json["data"] == first.json["data"] | {"secret": None}
    assert again.headers["Idempotency-Replayed"] == "true"
    assert len(api.get("/webhooks").json["data"]) == 1
    stored = hooks.sql("SELECT k::text AS line FROM idempotency_keys k")
    assert stored
    assert not any(first.json["data"]["secret"] in row.line for row in stored)


@pytest.mark.parametrize(
    "names",
    [[], ["test"], ["artifact.deleted"], ["artifact.ingested", "x"], ["artifact.ingested"] * 2],
)
def test_unsupported_events_are_refused(org: Org, names: list[str]) -> None:
    api = org.api("admin")
    answer = api.post("/webhooks", json={"url": URL, "events": names})
    assert get_error(answer) == (400, "validation_error", "events")
    assert api.get("/webhooks").json["data"] == []


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/",
        "http://127.1:9/",
        "http://2130706433/",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://169.254.169.254/latest/meta-data",
        "https://10.0.0.5/hook",
        "http://user:password@127.0.0.2/",
        "http://127.0.0.2:0/",
        "http://127.0.0.2:99999/",
        "ftp://127.0.0.2/",
        "file:///etc/passwd",
        "127.0.0.2/hook",
        "",
        "http://",
        "http://127.0.0.2/\r\nX: y",
    ],
)
def test_urls_that_lead_nowhere_or_inside_are_refused(hooks: Any, url: str) -> None:
    api = hooks.org.api("admin")
    answer = api.post("/webhooks", json={"url": url, "events": ["artifact.ingested"]})
    assert get_error(answer) == (400, "validation_error", "url")
    created = hooks.create()
    assert get_error(api.patch(f"/webhooks/{created['id']}", json={"url": url}))[0] == 400
    assert hooks.get(created)["url"] == created["url"]


def test_plain_http_needs_the_operators_consent(org: Org, monkeypatch: pytest.MonkeyPatch) -> None:
    current = container.current()
    policy = Policy(allowed_networks=current.settings.egress_allowed_networks, allow_http=False)
    monkeypatch.setattr(current, "egress", Egress(policy))
    api = org.api("admin")
    body = {"events": ["artifact.ingested"]}
    refused = api.post("/webhooks", json={**body, "url": URL})
    assert get_error(refused) == (400, "validation_error", "url")
    secure = {**body, "url": "https://127.0.0.2:9/hook"}
    assert api.post("/webhooks", json=secure).status_code == 201


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"events": ["artifact.ingested"]}, "url"),
        ({"url": URL}, "events"),
        ({"url": 1, "events": []}, "url"),
        ({"url": URL, "events": "artifact.ingested"}, "events"),
        ({"url": URL, "events": [1]}, "events.0"),
        ({"url": URL, "events": None}, "events"),
        ({"url": "http://127.0.0.2/" + "x" * 2048, "events": []}, "url"),
        ({"url": URL, "events": [], "secret": "0" * 64}, "secret"),
        ({"url": URL, "events": [], "description": "a\x00b"}, "description"),
        ({"url": URL, "events": [], "description": None}, "description"),
    ],
)
def test_bodies_that_do_not_fit_are_unprocessable(org: Org, body: Any, field: str) -> None:
    assert get_error(org.api("admin").post("/webhooks", json=body)) == (422, "unprocessable", field)


def test_a_name_server_that_never_answers_holds_up_its_own_organization_only(
    hooks: Any, other_org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = Event()
    real = socket.getaddrinfo

    def getaddrinfo(host: str, *args: Any, **options: Any) -> Any:
        if host == "slow.example":
            assert answered.wait(60)
        return real("127.0.0.2" if host.endswith(".example") else host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    body = {"url": "http://fast.example:9/hook", "events": ["export.completed"]}
    slow = {**body, "url": "http://slow.example:9/hook"}
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(hooks.org.api("admin").post, "/webhooks", json=slow)
        wait_until(lambda: hooks.org.id in outbound_slots._checking_owner_ids, "the slow check")
        refused = hooks.org.api("admin").post("/webhooks", json=body)
        assert get_error(refused)[:2] == (503, "service_unavailable")
        assert refused.headers["Retry-After"] == "1"
        assert other_org.api("admin").post("/webhooks", json=body).status_code == 201
        # A numeric address needs no name server.
        numeric = {**body, "url": URL}
        assert hooks.org.api("admin").post("/webhooks", json=numeric).status_code == 201
        answered.set()
        assert first.result().status_code == 201
    assert hooks.org.api("admin").post("/webhooks", json=body).status_code == 201


def test_name_servers_that_never_answer_hold_at_most_half_of_the_threads(
    hooks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbound_slots, "SLOT_TIMEOUT", 0.01)
    body = {"url": "http://localhost:9/hook", "events": ["export.completed"]}
    with ExitStack() as slow:
        for _ in range(container.settings().web_threads // 2):
            slow.enter_context(outbound_slots.hold_slot(uuid4()))
        refused = hooks.org.api("admin").post("/webhooks", json=body)
        assert get_error(refused)[:2] == (503, "service_unavailable")
    body = {**body, "url": URL}
    assert hooks.org.api("admin").post("/webhooks", json=body).status_code == 201
