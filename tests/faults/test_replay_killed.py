"""Check that a replay sends each delivery once after a kill of its worker and a flush of Valkey."""

import pytest

from app.delivery.webhooks.queries.replays import BATCH_SIZE
from tests.factories.waiting import wait_until
from tests.faults.conftest import Receiver
from tests.faults.sites import Site

pytestmark = pytest.mark.xdist_group("faults")

DELIVERIES = BATCH_SIZE + 100
_FILL = """
INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_id, event, body, status,
    test, round, attempts_in_round, attempt_count, created_at, updated_at, next_attempt_at)
SELECT :org, gen_random_uuid(), :webhook, gen_random_uuid(), 'artifact.ingested', '{"data": {}}',
    'abandoned', false, 1, 0, 0, now() - n * interval '1 second', now(), NULL
FROM generate_series(1, :count) AS n
"""
_DELIVERED = """
SELECT count(*) FROM webhook_deliveries
WHERE organization_id = :org AND status = 'delivered' AND round = 2
"""


def test_a_replay_continues_after_a_kill_and_a_flush_of_valkey(
    test_site: Site, receiver: Receiver
) -> None:
    body = {"url": receiver.url, "events": ["artifact.ingested"]}
    path = f"/webhooks/{test_site.call('POST', '/webhooks', json=body)['id']}"
    test_site.sql(_FILL, webhook=path.rpartition("/")[2], count=DELIVERIES)
    with test_site.turnstile("webhook_deliveries", sql_part="asked_status") as gate:
        test_site.call("POST", f"{path}/activate", json={"replay": {}})
        gate.kill(gate.step("worker.py"))
    progress = test_site.call("GET", path)["replay"]["progress"]
    assert progress == {"done": BATCH_SIZE, "total": DELIVERIES}
    job = test_site.find_job("webhooks.replay").id
    test_site.service.flush_valkey()
    test_site.resume_job(job)
    wait_until(lambda: test_site.get_value(_DELIVERED) == DELIVERIES, "every delivery")
    webhook = test_site.call("GET", path)
    assert webhook["replay"]["progress"] == {"done": DELIVERIES, "total": DELIVERIES}
    assert webhook["missed_count"] == 0
    assert len(receiver.seen) == DELIVERIES
    assert set(receiver.seen.values()) == {1}
    test_site.check_no_attempts("webhooks.replay")
