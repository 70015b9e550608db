"""Check that each user gets each notification once, although workers are killed."""

import pytest

from tests.factories.waiting import wait_until
from tests.faults.sites import Site

pytestmark = pytest.mark.xdist_group("faults")

_ASSIGN_LABELERS = """
UPDATE tag_sets SET labeler_id = (CAST(:people AS uuid[]))[1 + place % 3]
FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM tag_sets
      WHERE organization_id = :org) AS numbered
WHERE tag_sets.organization_id = :org AND tag_sets.id = numbered.id
"""
_MAKE_DUE = "UPDATE notifications SET open_until = now() WHERE organization_id = :org"
_CLOSING = "WITH closing AS"
"""The beginning of the statement that closes due notifications, before their emails are queued."""
_COUNT_PENDING = """
SELECT count(*) FROM jobs WHERE organization_id = :org
AND function IN (:function, :function || '_many') AND status <> 'completed'
"""


def _expire_leases_and_wait(test_site: Site, function: str) -> None:
    """Expire the leases of killed workers, and wait until all jobs of `function` are completed."""
    test_site.sql(
        "UPDATE jobs SET leased_until = now()"
        " WHERE leased_until IS NOT NULL AND (organization_id = :org"
        " OR function IN (:function, :function || '_many'))",
        function=function,
    )
    wait_until(
        lambda: test_site.get_value(_COUNT_PENDING, function=function) == 0,
        f"{function} to be done",
    )


_DIGESTS = """
INSERT INTO notification_delivery_preferences (user_id, email_frequency, updated_at, revision)
SELECT id, 'hourly', now(), 1 FROM unnest(CAST(:people AS uuid[])) AS person (id)
"""
_NOTES = """
INSERT INTO notifications (organization_id, id, user_id, kind, title, body, in_app, by_mail,
    open_until, created_at, updated_at)
SELECT :org, gen_random_uuid(), id, kind, 'A note', '', true, true, now() + interval '1 hour',
    now() - interval '2 hours', now()
FROM unnest(CAST(:people AS uuid[])) AS person (id)
CROSS JOIN unnest(CAST(:kinds AS text[])) AS kinds (kind) CROSS JOIN generate_series(1, 10)
"""


def _check_three_emails_after_kill(test_site: Site) -> None:
    """Make notifications due, kill the worker that sends them, and check that 3 emails are sent."""
    emails = "SELECT count(*) FROM jobs WHERE organization_id = :org AND function = 'letters.send'"
    assert test_site.get_value(emails) == 0
    # The periodic job that sends due notifications runs within ten seconds.
    with test_site.turnstile("notifications", sql_part=_CLOSING) as gate:
        gate.change(_MAKE_DUE, org=test_site.org)
        gate.kill(gate.wait_for_arrival("worker.py"))
        assert test_site.get_value(emails) == 0
    test_site.sql("UPDATE jobs SET leased_until = now() WHERE function = 'notifications.post_due'")
    wait_until(lambda: test_site.get_value(emails) > 0, "the emails to be sent")
    _expire_leases_and_wait(test_site, "letters.send")
    assert test_site.get_value(emails) == 3


def test_a_digest_is_sent_once_although_a_worker_is_killed(test_site: Site) -> None:
    people = [str(user_id) for user_id in test_site.create_labelers(3)]
    test_site.sql(_DIGESTS, people=people)
    test_site.sql(_NOTES, people=people, kinds=["mention", "export_ready"])
    _check_three_emails_after_kill(test_site)
    pending = "SELECT count(*) FROM notifications WHERE organization_id = :org AND by_mail"
    assert test_site.get_value(f"{pending} AND open_until IS NOT NULL") == 0


def test_labelers_get_one_notification_and_email_although_workers_are_killed(
    test_site: Site,
) -> None:
    people = test_site.create_labelers(3)
    test_site.create_documents(300, schema_id=test_site.create_schema())
    test_site.create_submitted_tag_sets(people[0])
    test_site.sql(_ASSIGN_LABELERS, people=[str(user_id) for user_id in people])
    rows = test_site.sql("SELECT id FROM tag_sets WHERE organization_id = :org")
    body = {"tag_set_ids": [str(row.id) for row in rows], "reason": "No", "send_to": "labeler"}
    with test_site.turnstile("notifications") as gate:
        assert test_site.call("POST", "/review-queue/bulk-reject", json=body)["succeeded"] == 300
        gate.kill(gate.step("worker.py"))
    _expire_leases_and_wait(test_site, "notifications.tag_set_rejected")
    sent = "SELECT user_id, count AS number, title FROM notifications WHERE organization_id = :org"
    assert sorted((row.user_id, row.number, row.title) for row in test_site.sql(sent)) == sorted(
        (user_id, 100, "100 of your tag sets were sent back") for user_id in people
    )
    _check_three_emails_after_kill(test_site)
