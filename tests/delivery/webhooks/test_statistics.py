"""The statistics of webhooks in the list."""

from typing import Any

from tests.delivery.webhooks.conftest import Answer

NOTHING = {"delivered": 0, "failed": 0, "pending": 0, "success_rate": None}


def _list(hooks: Any) -> dict[str, Any]:
    answer = hooks.org.api("admin").get("/webhooks")
    assert answer.status_code == 200, answer.text
    return {shown["id"]: shown["statistics"] for shown in answer.json["data"]}


def _without_since(statistics: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in statistics.items() if name != "since"}


def test_the_list_counts_what_became_of_deliveries(hooks: Any) -> None:
    good, bad, idle = (hooks.create(path) for path in ("/good", "/bad", "/idle"))
    inactive = "active = false, deactivated_at = now() - interval '99 days'"
    hooks.update("webhooks", inactive, "id = :id", id=idle["id"])
    hooks.receiver.add_responses("/bad", Answer(500))
    hooks.deliver_events(2)
    for _ in range(3):
        hooks.make_due()
        hooks.deliver()
    hooks.receiver.answers.clear()
    hooks.insert_deliveries(good, 3, "skipped")
    hooks.insert_deliveries(good, 5, "abandoned")
    hooks.insert_deliveries(bad, 1, "failed")
    hooks.insert_deliveries(bad, 4)
    webhooks = _list(hooks)
    expected = {"delivered": 5, "failed": 5, "pending": 0, "success_rate": 0.5}
    assert _without_since(webhooks[good["id"]]) == expected
    expected = {"delivered": 0, "failed": 3, "pending": 4, "success_rate": 0.0}
    assert _without_since(webhooks[bad["id"]]) == expected
    assert _without_since(webhooks[idle["id"]]) == NOTHING
    assert hooks.get(good)["statistics"] == webhooks[good["id"]]


def test_tests_and_older_deliveries_do_not_count(hooks: Any) -> None:
    created = hooks.create()
    hooks.insert_deliveries(created, 3, "abandoned")
    hooks.update("webhook_deliveries", "created_at = now() - interval '26 hours'")
    hooks.act(created, "test")
    hooks.deliver()
    assert len(hooks.receiver.received) == 1
    (statistics,) = _list(hooks).values()
    assert _without_since(statistics) == NOTHING
    assert hooks.get(created)["missed_count"] == 3
