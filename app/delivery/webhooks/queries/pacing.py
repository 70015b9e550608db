"""SQL fragments that select the deliveries of a webhook that may be attempted now.

`due` finds webhooks with these deliveries, and `leases` begins the attempts. Both use the same
conditions, so that no dispatcher is woken for a delivery that must not be attempted yet. `w` is a
row of `WEBHOOK_STATE`, and `d` is a delivery.

If the latest attempt to deliver to a webhook succeeded, all due deliveries may begin. A failing
webhook gets one first attempt at a time, and no first attempt until its pause has ended. Its
retries begin when they are due. But the retries and the attempts under way together must not exceed
the number of failures that are left until the webhook is deactivated. A retry that is at least a
second late begins regardless of this limit.

Replayed deliveries wait until no other first attempt is due. Only some of the attempts under way
may be for replayed deliveries, so that an attempt at a new delivery can begin immediately.
"""

from app.kit.leases import IS_FREE, IS_LEASED

DEACTIVATE_AT = 10
"""The number of consecutive failed attempts that deactivates a webhook."""
MAX_FAILING = 8
"""The maximum number of attempts under way for a failing webhook, even if its retries are late."""
OVERDUE_SECONDS = 1

WEBHOOK_STATE = f"""
    SELECT w.organization_id, w.id, w.active, w.generation, w.consecutive_failures AS failures,
           w.last_triggered_at, coalesce(w.paused_until > now(), false) AS paused,
           CASE WHEN w.consecutive_failures > 0 THEN (
               SELECT least(count(*), {MAX_FAILING}) FROM webhook_deliveries l
               WHERE l.webhook_id = w.id AND {IS_LEASED} AND NOT l.test)
           ELSE 0 END AS under_way
    FROM webhooks w
    WHERE (w.organization_id, w.id) = (requested.organization_id, requested.webhook_id)
      AND w.deleted_at IS NULL
"""  # noqa: S608 - made of constants
"""A subquery for the state of the webhook that the outer row `requested` identifies."""

TEST_DELIVERIES = f"""
    FROM webhook_deliveries d
    WHERE d.webhook_id = w.id AND d.test AND d.next_attempt_at <= now() AND {IS_FREE}
"""
# There is no condition on the organization, because the best index does not have this column and
# the planner might choose another index.
RETRIES = f"""
    FROM webhook_deliveries d
    WHERE d.webhook_id = w.id AND d.generation = w.generation AND d.attempts_in_round > 0
      AND NOT d.test AND d.next_attempt_at <= now() AND {IS_FREE}
"""
OVERDUE = f"d.next_attempt_at <= now() - interval '{OVERDUE_SECONDS} second'"
_FIRST_OR_REPLAY = f"""
    FROM webhook_deliveries d
    WHERE d.organization_id = w.organization_id AND d.webhook_id = w.id
      AND d.generation = w.generation AND d.attempts_in_round = 0
      AND NOT d.test AND d.next_attempt_at <= now() AND {IS_FREE}
"""
FIRST_ATTEMPTS = f"{_FIRST_OR_REPLAY} AND NOT d.replayed"
REPLAYS = f"{_FIRST_OR_REPLAY} AND d.replayed"
REPLAYS_UNDER_WAY = f"""
    FROM webhook_deliveries l
    WHERE l.webhook_id = w.id AND {IS_LEASED} AND l.replayed
"""
FAILURES_LEFT = f"({DEACTIVATE_AT} - w.failures - w.under_way)"
