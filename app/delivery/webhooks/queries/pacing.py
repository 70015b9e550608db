"""SQL fragments that say which deliveries of a webhook may be attempted now.

`due` asks whether there are any, `leases` begins them: both by these conditions, so that nobody is
woken for what cannot begin. `w` is a row of `STATE`, `d` a delivery.

A webhook whose latest attempt succeeded is *healthy*: everything due may begin. One that fails gets
one first attempt at a time and none until the end of its pause. Its retries keep their time, but
with those under way they are no more than failures are left until it is deactivated; one that is a
second late begins all the same.
"""

DEACTIVATE_AT = 10
"""So many failed attempts in a row deactivate a webhook."""
MAX_FAILING = 8
"""So many attempts at a failing webhook may be under way, however late its retries are."""
OVERDUE_SECONDS = 1

FREE = "(d.leased_until IS NULL OR d.leased_until <= now())"
"""No deliverer has it, or the one that had it has died."""

STATE = f"""
    SELECT w.organization_id, w.id, w.active, w.generation, w.consecutive_failures AS failures,
           w.last_triggered_at, coalesce(w.paused_until > now(), false) AS paused,
           CASE WHEN w.consecutive_failures > 0 THEN (
               SELECT least(count(*), {MAX_FAILING}) FROM webhook_deliveries l
               WHERE l.webhook_id = w.id AND l.leased_until > now() AND NOT l.test)
           ELSE 0 END AS under_way
    FROM webhooks w
    WHERE (w.organization_id, w.id) = (asked.organization_id, asked.webhook_id)
      AND w.deleted_at IS NULL
"""  # noqa: S608 - made of constants
"""A webhook's state; `asked` names it."""

TESTS = f"""
    FROM webhook_deliveries d
    WHERE d.webhook_id = w.id AND d.test AND d.next_attempt_at <= now() AND {FREE}
"""
# The index has no organization: with it named here, the planner may prefer one that does.
RETRIES = f"""
    FROM webhook_deliveries d
    WHERE d.webhook_id = w.id AND d.generation = w.generation AND d.attempts_in_round > 0
      AND NOT d.test AND d.next_attempt_at <= now() AND {FREE}
"""
OVERDUE = f"d.next_attempt_at <= now() - interval '{OVERDUE_SECONDS} second'"
FIRSTS = f"""
    FROM webhook_deliveries d
    WHERE d.organization_id = w.organization_id AND d.webhook_id = w.id
      AND d.generation = w.generation AND d.attempts_in_round = 0
      AND NOT d.test AND d.next_attempt_at <= now() AND {FREE}
"""
FAILURES_LEFT = f"({DEACTIVATE_AT} - w.failures - w.under_way)"
