"""Long backlogs of webhooks that are deactivated or deleted: in batches, whatever comes between."""

from typing import Any

import pytest
from sqlalchemy import event, text

from app.delivery.webhooks import abandoning, recorder, sending
from app.delivery.webhooks.queries import backlog, due
from app.kit import db, tenancy
from tests.delivery.webhooks.conftest import Answer
from tests.factories.queueing import KilledError, build_killing_checkpoint
from tests.factories.scrape import get_metric
from tests.factories.work import run_jobs_of

LEFT = 2 * backlog.BATCH_SIZE + 300
BACKLOG = abandoning.FIRST_BATCH_SIZE + LEFT


def test_a_request_abandons_one_batch_and_a_job_the_rest(hooks: Any) -> None:
    created = hooks.create()
    hooks.insert_deliveries(created, BACKLOG)
    before = get_metric(hooks.org.app, "labeling_deliveries_total", outcome="abandoned")
    assert hooks.act(created, "deactivate")["active"] is False
    assert hooks.count_deliveries(created, "abandoned") == abandoning.FIRST_BATCH_SIZE
    assert hooks.begin_attempts() == [], "what is not abandoned yet is not attempted either"
    run_jobs_of(hooks.org, "bulk")
    assert hooks.count_deliveries(created, "abandoned") == BACKLOG
    after = get_metric(hooks.org.app, "labeling_deliveries_total", outcome="abandoned")
    assert after >= before + BACKLOG


def test_a_job_that_is_killed_goes_on_after_its_last_batch(hooks: Any) -> None:
    created = hooks.create()
    hooks.insert_deliveries(created, BACKLOG)
    hooks.act(created, "deactivate")
    app_context, organization = hooks.org.app.app_context(), tenancy.organization(hooks.org.id)
    with app_context, organization, pytest.raises(KilledError):
        abandoning.abandon_all(hooks.org.id, build_killing_checkpoint(2))
    assert hooks.count_deliveries(created, "pending") == LEFT - backlog.BATCH_SIZE
    run_jobs_of(hooks.org, "bulk")
    assert hooks.count_deliveries(created, "abandoned") == BACKLOG


def test_no_statement_abandons_more_than_a_batch(app: Any, hooks: Any) -> None:
    created = hooks.create()
    hooks.insert_deliveries(created, BACKLOG)
    sizes: list[int] = []

    def note(_conn: Any, cursor: Any, statement: str, *_: Any) -> None:
        if "UPDATE webhook_deliveries" in statement:
            sizes.append(cursor.rowcount)

    with app.app_context():
        engines = list(db.db.engines.values())
    for engine in engines:
        event.listen(engine, "after_cursor_execute", note)
    try:
        hooks.act(created, "deactivate")
        run_jobs_of(hooks.org, "bulk")
    finally:
        for engine in engines:
            event.remove(engine, "after_cursor_execute", note)
    assert sum(sizes) == BACKLOG
    assert max(sizes) <= backlog.BATCH_SIZE


def test_activating_again_revives_nothing(hooks: Any) -> None:
    """Whatever the job has done by then: what was pending belongs to the time before."""
    created = hooks.create()
    hooks.insert_deliveries(created, BACKLOG)
    hooks.act(created, "deactivate")
    assert hooks.act(created, "activate")["active"] is True
    assert hooks.count_deliveries(created, "pending") == LEFT
    hooks.deliver_events(3)
    assert len(hooks.receiver.received) == 3
    assert hooks.count_deliveries(created, "delivered") == 3
    run_jobs_of(hooks.org, "bulk")
    assert hooks.count_deliveries(created, "abandoned") == BACKLOG


def test_what_is_outdated_and_not_abandoned_yet_can_be_redelivered(hooks: Any) -> None:
    created = hooks.create()
    hooks.insert_deliveries(created, BACKLOG)
    hooks.act(created, "deactivate")
    hooks.act(created, "activate")
    pending = hooks.list_deliveries(created, status="pending")[0]
    hooks.redeliver(created, pending)
    run_jobs_of(hooks.org, "bulk")
    hooks.deliver()
    (request,) = hooks.receiver.received
    assert request.headers["X-Service-Delivery"] == pending["id"]
    assert hooks.count_deliveries(created, "abandoned") == BACKLOG - 1


def test_a_fan_out_that_passes_a_deactivation_leaves_nothing_pending(hooks: Any, work: Any) -> None:
    """It saw the webhook active and commits afterwards; nobody else knows of its deliveries."""
    created = hooks.create()
    hooks.act(created, "deactivate")
    hooks.insert_deliveries(created, 3)
    hooks.update("webhook_deliveries", "generation = 0")
    hooks.act(created, "activate")
    work()  # the relay finds them
    work()
    assert hooks.count_deliveries(created, "abandoned") == 3
    assert hooks.receiver.received == []


def test_the_tenth_failure_of_one_with_a_backlog_delays_no_outcome(hooks: Any) -> None:
    """Of the same transaction and of others: only a batch is abandoned there."""
    created, other = hooks.create("/hook"), hooks.create("/other")
    hooks.receiver.add_responses("/hook", Answer(500))
    hooks.update("webhooks", "consecutive_failures = 9", "id = :id", id=created["id"])
    hooks.emit()
    attempts = hooks.begin_attempts()
    hooks.insert_deliveries(created, BACKLOG)
    hooks.record_results(*[sending.send(attempt) for attempt in attempts])
    assert hooks.get(created)["active"] is False
    assert hooks.count_deliveries(other, "delivered") == 1
    abandoned = hooks.count_deliveries(created, "abandoned")
    assert 0 < abandoned <= abandoning.FIRST_BATCH_SIZE + 1
    run_jobs_of(hooks.org, "bulk")
    assert hooks.count_deliveries(created, "abandoned") == BACKLOG + 1


def test_outcomes_do_not_wait_for_deliveries_that_others_have_locked(hooks: Any) -> None:
    """As the job that abandons them has, or a deliverer that stands still."""
    hooks.create()
    hooks.emit(2)
    attempts = hooks.begin_attempts()
    results = [sending.send(attempt) for attempt in attempts]
    assert len(results) == 2
    everything = tenancy.across_organizations(reason="a test is another process")
    with hooks.org.app.app_context(), everything:
        engine = db.db.engine
    lock = f"SELECT FROM webhook_deliveries WHERE id = '{attempts[0].id}' FOR UPDATE"
    with engine.connect() as other, other.begin():
        other.exec_driver_sql("SET LOCAL app.all_organizations = 'on'")
        other.exec_driver_sql(lock)
        with hooks.as_deliverer():
            assert recorder.write(results) == results[:1]
    with hooks.as_deliverer():
        assert recorder.write(results[:1]) == []
    statuses = hooks.sql("SELECT status FROM webhook_deliveries WHERE organization_id = :org")
    assert [row.status for row in statuses] == ["delivered"] * 2


def test_a_webhook_with_many_deliveries_is_gone_at_once_and_deleted_by_a_job(hooks: Any) -> None:
    created, other = hooks.create(), hooks.create("/other")
    hooks.insert_deliveries(created, BACKLOG, "delivered")
    hooks.insert_deliveries(created, 5)
    api, path = hooks.org.api("admin"), f"/webhooks/{created['id']}"
    assert api.delete(path).status_code == 204
    assert api.get(path).status_code == 404
    assert api.get(path + "/deliveries").status_code == 404
    assert api.post(path + "/activate").status_code == 404
    assert [shown["id"] for shown in api.get("/webhooks").json["data"]] == [other["id"]]
    assert hooks.count_deliveries(created) > 0
    hooks.emit()
    assert {str(attempt.webhook_id) for attempt in hooks.begin_attempts()} == {other["id"]}
    run_jobs_of(hooks.org, "bulk")
    assert hooks.count_deliveries(created) == 0
    sql = "SELECT count(*) AS n FROM webhooks WHERE organization_id = :org"
    assert hooks.sql(sql)[0].n == 1


def test_every_webhook_of_an_organization_with_many_is_found(
    hooks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few one look takes in, and wherever the last one ended."""
    monkeypatch.setattr(due, "MAX_VISITS_PER_ORGANIZATION", 2)
    created = [hooks.create(f"/{n}") for n in range(9)]
    for webhook in created:
        hooks.insert_deliveries(webhook, 1)
    last = max(webhook["id"] for webhook in created)
    later = "next_attempt_at = now() + interval '1 hour'"
    hooks.update("webhook_deliveries", later, "webhook_id <> :webhook", webhook=last)
    for _ in range(3):
        finder = due.DueWebhookFinder()
        with hooks.as_deliverer():
            seen: set[str] = set()
            for _ in range(due.MAX_SEARCHES):
                seen |= {str(hook.webhook_id) for hook in finder.search_once() if hook.due}
        assert last in seen


def test_a_batch_is_no_larger_whatever_the_plan(hooks: Any) -> None:
    """A nested loop would run a subquery again, and skip what it has locked before."""
    created = hooks.create()
    hooks.insert_deliveries(created, 50)
    with hooks.org.transaction():
        for plan in ("hashjoin", "mergejoin", "hashagg", "sort", "material", "memoize"):
            db.session().execute(text(f"SET LOCAL enable_{plan} = off"))
        assert backlog.delete_batch(hooks.org.id, created["id"], 10) == 10
    assert hooks.count_deliveries(created) == 40
