"""`flask webhooks`: replay, and the receiver for trials."""

import re
import threading
from types import SimpleNamespace
from typing import Any

import pytest
import requests

from app.commands import webhook_receiver
from app.commands import webhooks as command
from app.commands.webhook_receiver import Receiver, SignatureStatus, run_receiver
from app.delivery.webhooks import sending
from tests.delivery.webhooks import conftest as webhooks_conftest
from tests.delivery.webhooks.conftest import Hooks
from tests.factories import Org, run_jobs_of
from tests.factories.waiting import wait_until

HOST = "127.0.0.2"
CLOSED_PORT = 9
SECRET = "0123456789abcdef" * 4


@pytest.fixture
def hooks(org: Org) -> Hooks:
    """Return the webhooks of an organization; nothing is delivered."""
    return Hooks(org, webhooks_conftest.Receiver(CLOSED_PORT))


@pytest.fixture
def _workers(org: Org, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers run while the command pauses."""
    pause = SimpleNamespace(sleep=lambda _seconds: run_jobs_of(org, "bulk"))
    # Not `time.sleep` itself, which threads of this process call as well.
    monkeypatch.setattr(command, "time", pause)


@pytest.mark.usefixtures("_workers")
def test_replay(flask: Any, hooks: Any) -> None:
    created = hooks.create()
    hooks.insert_deliveries(created, 3, "abandoned")
    hooks.insert_deliveries(created, 2, "failed")
    arguments = ("webhooks", "replay", created["id"], "--org", hooks.org.slug)
    record = flask.json(*arguments, "--status", "failed", "--event", "artifact.ingested")
    assert (record["replayed"], record["total"], record["stop_reason"]) == (2, 2, None)
    assert hooks.count_deliveries(created, "pending") == 2
    record = flask.json(*arguments, "--no-wait")
    assert (record["replayed"], record["total"]) == (0, None)
    assert "still running" in flask.get_refusal(*arguments)


@pytest.mark.usefixtures("_workers")
def test_replay_of_a_deactivated_webhook(flask: Any, hooks: Any) -> None:
    created = hooks.create()
    hooks.insert_deliveries(created, 3)
    hooks.org.api("admin").post(f"/webhooks/{created['id']}/deactivate")
    arguments = ("webhooks", "replay", created["id"], "--org", hooks.org.slug)
    assert "--activate" in flask.get_refusal(*arguments)
    assert flask.json(*arguments, "--activate")["replayed"] == 3
    assert hooks.get(created)["active"] is True


def test_a_replay_that_is_stopped_is_a_finding(
    flask: Any, hooks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    created = hooks.create()

    def pause(_seconds: float) -> None:
        # In a thread, because a request would unbind the organization of the command.
        path = f"/webhooks/{created['id']}/deactivate"
        another = threading.Thread(target=hooks.org.api("admin").post, args=(path,))
        another.start()
        another.join()

    monkeypatch.setattr(command, "time", SimpleNamespace(sleep=pause))
    result = flask.run("webhooks", "replay", created["id"], "--org", hooks.org.slug)
    assert result.exit_code == 3, result.output
    assert "deactivated" in result.stdout


def test_what_replay_refuses(flask: Any, hooks: Any) -> None:
    created = hooks.create()
    organization = ("--org", hooks.org.slug)
    arguments = ("webhooks", "replay", created["id"], *organization)
    assert "from" in flask.get_refusal(*arguments, "--from", "yesterday")
    assert "replay.from" in flask.get_refusal(*arguments, "--from", "2020-01-01T00:00:00Z")
    assert "statuses" in flask.get_refusal(*arguments, "--status", "pending")
    assert "replay.events" in flask.get_refusal(*arguments, "--event", "test")
    assert "organization" in flask.get_refusal(*arguments[:3], "--org", "nobody")
    unknown = "00000000-0000-7000-8000-000000000000"
    assert "no such webhook" in flask.get_refusal("webhooks", "replay", unknown, *organization)
    assert flask.run("webhooks", "replay", "7", *organization).exit_code == 2


class ReceiverThread:
    """A running receiver; `lines` is what it prints."""

    def __init__(self, secret: str | None, status: int = 204, count: int | None = None) -> None:
        self.lines: list[str] = []
        receiver = Receiver(secret.encode() if secret else None, status, count, self.lines.append)
        self.thread = threading.Thread(target=run_receiver, args=(receiver, HOST, 0), daemon=True)
        self.thread.start()
        wait_until(lambda: self.lines, "the receiver to listen")
        match = re.search(r"http://\S+", self.lines.pop())
        assert match is not None
        self.url = match[0]

    def post(self, body: bytes, **headers: str) -> int:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return requests.post(self.url, data=body, headers=named, timeout=10).status_code

    def output(self) -> str:
        return "\n".join(self.lines)


@pytest.fixture
def signed_headers() -> dict[str, str]:
    """Return the headers of a delivery of `{}` that is sent now."""
    now = int(webhook_receiver.time.time())
    key = SECRET.encode()
    return {
        "X_Service_Event": "test",
        "X_Service_Delivery": "one",
        "X_Service_Attempt": "1",
        "X_Service_Signature": sending.sign_body(key, b"{}"),
        "webhook_id": "one",
        "webhook_timestamp": str(now),
        "webhook_signature": sending.sign_standard_webhook([key], "one", now, b"{}"),
    }


def test_a_delivery_is_printed_with_the_state_of_its_signatures(
    signed_headers: dict[str, str],
) -> None:
    listening = ReceiverThread(SECRET, count=2)
    assert listening.post(b"{}", **signed_headers) == 204
    assert "test  delivery one  attempt 1" in listening.output()
    assert "signature: valid; Standard Webhooks: valid" in listening.output()
    assert listening.post(b"{ }", **signed_headers) == 204
    assert "signature: invalid; Standard Webhooks: invalid" in listening.output()
    listening.thread.join(30)
    assert not listening.thread.is_alive(), "it stops after `count` deliveries"


def test_old_or_missing_signatures_are_named(signed_headers: dict[str, str]) -> None:
    listening = ReceiverThread(SECRET, status=500)
    old = {"webhook_timestamp": "1000", "webhook_signature": ""}
    old["webhook_signature"] = sending.sign_standard_webhook([SECRET.encode()], "one", 1000, b"{}")
    assert listening.post(b"{}", **{**signed_headers, **old}) == 500
    assert f"Standard Webhooks: {SignatureStatus.EXPIRED}" in listening.output()
    assert listening.post(b"{}") == 500
    assert "signature: missing; Standard Webhooks: missing" in listening.output()
    garbage = {"X_Service_Signature": "\u00e9", "webhook_signature": "v1,% v2 ,"}
    assert listening.post(b"{}", **{**signed_headers, **garbage}) == 500
    assert "signature: invalid; Standard Webhooks: invalid" in listening.output()


def test_without_a_secret_nothing_is_verified(signed_headers: dict[str, str]) -> None:
    listening = ReceiverThread(None)
    listening.post(b"{}", **signed_headers)
    assert "signature: not verified; Standard Webhooks: not verified" in listening.output()


def test_bodies_are_bounded_and_cannot_control_the_terminal(signed_headers: dict[str, str]) -> None:
    listening = ReceiverThread(SECRET)
    assert listening.post(b"x" * (webhook_receiver.MAX_BODY_BYTES + 1)) == 413
    assert listening.post(b"\x1b[2J\xff", X_Service_Event="\u009b2J") == 204
    assert all(c.isprintable() or c == "\n" for c in listening.output())
    chunks = iter([b"{", b"}"])
    assert requests.post(listening.url, data=chunks, timeout=10).status_code == 411
    assert requests.get(listening.url, timeout=10).status_code == 501


def test_what_listen_refuses(flask: Any, signed_headers: dict[str, str]) -> None:
    assert flask.run("webhooks", "listen", "--secret", "short").exit_code == 2
    assert flask.run("webhooks", "listen", "--port", "70000").exit_code == 2
    port = ReceiverThread(None).url.rstrip("/").rpartition(":")[2]
    refused = flask.get_refusal("webhooks", "listen", "--host", HOST, "--port", port)
    assert f"Cannot listen on {HOST}:{port}" in refused
