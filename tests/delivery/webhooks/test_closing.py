"""An organization that is closed delivers no events any more."""

from typing import Any

from tests.delivery.webhooks.conftest import Answer


def test_a_closed_organization_delivers_nothing(hooks: Any) -> None:
    hooks.create()
    hooks.receiver.add_responses("/hook", Answer(500), Answer(200))
    hooks.deliver_events(1)
    assert len(hooks.receiver.received) == 1
    slug = hooks.org.slug
    closed = hooks.org.api("owner").post(f"/organizations/{slug}/close", json={"slug": slug})
    assert closed.status_code == 202, closed.text
    hooks.deliver()
    hooks.make_due()
    hooks.deliver_events(2)
    assert len(hooks.receiver.received) == 1
    statuses = hooks.sql("SELECT status FROM webhook_deliveries WHERE organization_id = :org")
    assert [status for (status,) in statuses] == ["abandoned"]
