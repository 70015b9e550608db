"""Rate limits, counted in a store that all processes share.

Flask-Limiter counts the requests. A request is counted after its caller has been authenticated, so
that nobody can use up another organization's limit by sending its slug. While the store is down,
requests are not limited.
"""

import math
import re
import time
from collections.abc import Callable
from typing import Any

from flask import Flask, Response, g, request
from flask_limiter import Limiter
from limits import RateLimitItem, parse
from redis.backoff import NoBackoff
from redis.retry import Retry

from app.kit import metrics
from app.kit.container import REDIS_TIMEOUT_SECONDS
from app.kit.errors import ApiError
from app.kit.logging import get_logger
from app.kit.networks import parse_network

log = get_logger(__name__)

LIMITS: dict[str, tuple[str, str]] = {
    "login": ("10/minute", "ip"),
    "password": ("5/minute", "ip"),
    "register": ("5/hour", "ip"),
    "accept_invitation": ("3/hour", "ip"),
    "sso": ("30/minute", "ip"),
    "create_organization": ("10/hour", "ip"),
    "artifact_actions": ("5/minute", "org"),
    "crawl": ("2/minute", "org"),
    "create_export": ("10/hour", "org"),
    "compute_quality": ("30/minute", "org"),
    "control_plane": ("30/60 seconds", "ip"),
}
"""The rate limits in the API contract, by name: the allowed rate, and whether requests are counted
per client address (`ip`) or per organization (`org`)."""


def get_client_key() -> str:
    """Return the key under which a client's requests are counted: its network (see `networks`)."""
    try:
        return parse_network(request.remote_addr or "").hex()
    except OSError:
        return request.remote_addr or "unknown"


# The constructor requires a key function. Operations pass their key to `check` instead.
limiter = Limiter(get_client_key, strategy="moving-window")


def init(app: Flask, redis_url: str, *, enabled: bool) -> None:
    """Set up Flask-Limiter on `app` with Redis as its store. Limit nothing unless `enabled`."""
    _store.enabled = enabled
    # Flask-Limiter and redis-py have different names for the scheme unix://.
    app.config["RATELIMIT_STORAGE_URI"] = re.sub("^unix:", "redis+unix:", redis_url)
    app.config["RATELIMIT_STORAGE_OPTIONS"] = {
        "socket_timeout": REDIS_TIMEOUT_SECONDS,
        "socket_connect_timeout": REDIS_TIMEOUT_SECONDS,
        "retry": Retry(NoBackoff(), 0),
        "key_prefix": "limits",
    }
    hooks: tuple[Any, ...] = (
        app.before_request_funcs,
        app.after_request_funcs,
        app.teardown_request_funcs,
    )
    functions_before = [list(functions.get(None, ())) for functions in hooks]
    limiter.init_app(app)
    # Remove the limiter's hooks. They would look for decorated views at every request, but
    # operations call `check` instead.
    for functions, original_functions in zip(hooks, functions_before, strict=True):
        functions[None] = original_functions


class RateLimitStore:
    """The shared request counters. After a failure, the store is not used for `pause_seconds`."""

    pause_seconds = 5.0

    def __init__(self) -> None:
        self.enabled = True
        self._paused_until = 0.0

    def hit(self, item: RateLimitItem, *key: str) -> tuple[bool, int, float] | None:
        """Count one request or action.

        Returns whether it is allowed, how many more are allowed, and the Unix time at which the
        limit resets. Returns None if the store fails, or failed in the last `pause_seconds`.
        """
        if time.monotonic() < self._paused_until:
            return None
        try:
            strategy = limiter.limiter
            is_allowed = strategy.hit(item, *key)
            stats = strategy.get_window_stats(item, *key)
        except Exception as failure:  # noqa: BLE001 - no failure of the store may block requests
            self._paused_until = time.monotonic() + self.pause_seconds
            metrics.RATE_LIMIT_STORE_FAILURES.inc()
            log.warning("rate_limit.store_unavailable", error=type(failure).__name__)
            return None
        return is_allowed, stats.remaining, stats.reset_time


_store = RateLimitStore()
_limit_items: dict[str, RateLimitItem] = {name: parse(text) for name, (text, _) in LIMITS.items()}


def check(name: str, get_organization_key: Callable[[], str]) -> None:
    """Check the limit `name`, and count one request against it.

    `get_organization_key` returns the key under which the requests of the caller's organization are
    counted. Raises 429 `rate_limited` with `Retry-After` if the limit is exceeded.
    """
    if not _store.enabled:
        return
    item = _limit_items[name]
    is_per_organization = LIMITS[name][1] == "org"
    key = get_organization_key() if is_per_organization else get_client_key()
    hit = _store.hit(item, name, key)
    if hit is None:
        return
    is_allowed, remaining, reset_at = hit
    wait_seconds = _compute_wait_seconds(reset_at)
    headers = {
        "RateLimit-Limit": str(item.amount),
        "RateLimit-Remaining": str(remaining if is_allowed else 0),
        "RateLimit-Reset": str(wait_seconds),
    }
    if not is_allowed:
        raise ApiError(
            "rate_limited",
            f"The rate limit of {item} is exceeded. Try again in {wait_seconds} s.",
            details={"retry_after": wait_seconds},
            headers={**headers, "Retry-After": str(wait_seconds)},
        )
    g.rate_limit_headers = headers


def count_action(item: RateLimitItem, name: str, key: str) -> int:
    """Count one action, such as an email, against a limit that is not per request.

    Returns how many seconds the action must wait; 0 if the limit allows it now, or if limits are
    disabled or the store is down. An action above the limit is not counted.

    Args:
        item: the allowed number of actions and the period.
        name: the name of the counter.
        key: the user, address or organization whose actions are counted.
    """
    if not _store.enabled:
        return 0
    hit = _store.hit(item, name, key)
    return 0 if hit is None or hit[0] else _compute_wait_seconds(hit[2])


def _compute_wait_seconds(reset_at: float) -> int:
    """Return the seconds until a Unix time, at least 1 and rounded up, so that waiting suffices."""
    return max(1, math.ceil(reset_at - time.time()))


def add_headers(response: Response) -> None:
    """Add the rate limit headers to the response if the request was counted."""
    headers = g.pop("rate_limit_headers", None)
    if headers:
        response.headers.update(headers)
