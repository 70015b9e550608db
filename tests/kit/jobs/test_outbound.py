"""With OUTBOUND=off, nothing is sent, and jobs that call other hosts stay queued."""

from dataclasses import replace

import pytest
from flask import Flask

from app.kit import container
from app.kit.egress import EgressRefused
from app.kit.jobs import backlog, processes
from app.kit.jobs.processes import StartRequests
from app.kit.jobs.relay import Relay
from app.kit.mail import MailFailed
from tests.factories import Org, claim_jobs_of
from tests.kit.jobs.workshop import declare_handler, enqueue, rows


@pytest.fixture
def closed(app: Flask, monkeypatch: pytest.MonkeyPatch) -> container.Container:
    """Return a container that was configured with OUTBOUND=off."""
    made = container.Container(replace(container.settings(), outbound=False))
    monkeypatch.setattr(container, "_current", made)
    return made


@pytest.mark.usefixtures("closed")
def test_no_process_serves_other_hosts() -> None:
    names = {child.name for child in processes.list_children(1, StartRequests(), outbound=False)}
    assert names & {"outside", "webhooks"} == set()
    assert {"documents-1", "quick", "slow"} <= names


def test_nothing_is_woken_or_claimed_for_other_hosts(
    app: Flask, org: Org, closed: container.Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[str] = []
    monkeypatch.setattr(Relay, "_send", lambda _self, _connection, queue, *_: woken.append(queue))
    with declare_handler("test.abroad", lambda _: None, queue="mail"):
        enqueue(org, "test.abroad", {})
        relay = Relay(app, lambda: closed.redis(timeout=5))
        for _ in range(3):
            relay.run_once()
        assert {"outside", "webhooks"} & set(woken) == set()
        assert [row.status for row in rows(org)] == ["queued"]
        assert len(claim_jobs_of(org, "mail")) == 1


def test_what_is_left_to_wait_is_not_behind(app: Flask, closed: container.Container) -> None:
    with app.app_context():
        assert not {"mail", "webhooks"} & {one.queue for one in backlog.read()}
    assert app.test_client().get("/health/ready").json["checks"]["outbound"] == "off"


def test_no_request_and_no_email_leaves(closed: container.Container) -> None:
    outcome = closed.egress.request("POST", "https://example.com/hook")
    assert (outcome.status_code, outcome.error) == (None, "outbound traffic is switched off")
    with pytest.raises(EgressRefused):
        closed.egress.resolve_address("example.com", 443)
    with pytest.raises(EgressRefused):
        closed.egress.session().get("https://example.com/")
    with pytest.raises(MailFailed):
        closed.mailer.send("ada@example.com", "Subject", "Text")
