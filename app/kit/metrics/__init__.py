"""Prometheus metrics, summed over all processes of the service.

Counting takes a microsecond and uses neither disk nor network (`counters`). A thread adds the
counts to sums in Redis (`store`). The route `/metrics` in every API process shows these sums
(`page`).
"""

from app.kit import logging
from app.kit.metrics.counters import Counter, Histogram, HistogramSeries
from app.kit.metrics.page import Gauge, GaugeReading, register_collector, render
from app.kit.metrics.store import STORE

__all__ = ["Counter", "Gauge", "GaugeReading", "register_collector", "render"]

set_client_factory = STORE.set_client_factory
flush = STORE.flush

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_REQUEST_BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

REQUESTS = Histogram(
    "labeling_request_duration_seconds",
    "The time in seconds from the arrival of a request to its response.",
    ["operation", "method", "status"],
    _REQUEST_BUCKETS,
)
DELIVERIES = Counter("labeling_deliveries", "Webhook delivery attempts.", ["outcome"])
JOBS = Counter("labeling_jobs", "Runs of background jobs.", ["function", "outcome"])
JOBS_FAILED = Counter(
    "labeling_jobs_given_up",
    "Jobs that failed and are not retried. The command `flask jobs list` shows them.",
    ["function"],
)
LEASE_EXPIRIES = Counter(
    "labeling_lease_expiries", "Expired leases of unfinished jobs and deliveries.", ["queue"]
)
RATE_LIMIT_STORE_FAILURES = Counter(
    "labeling_rate_limit_store_failures",
    "Requests that were not rate-limited because the store did not respond.",
)
LOGINS_REFUSED = Counter(
    "labeling_logins_turned_away", "Requests refused because too many passwords were being hashed."
)
LOG_LINES_DROPPED = Counter(
    "labeling_log_lines_dropped",
    "Log lines that were dropped because the output was too slow or could not be written.",
)
STORAGE_REFUSALS = Counter(
    "labeling_storage_refusals",
    "Writes refused because too little disk space is free.",
    ["operation"],
    at_start=[("upload",), ("text",), ("export",)],
)
logging.set_dropped_lines_callback(LOG_LINES_DROPPED.inc)

_request_series: dict[tuple[str, str, int], HistogramSeries] = {}


def observe_request(operation: str, method: str, status: int, seconds: float) -> None:
    """Record the duration of a request. All unknown HTTP methods are counted as `other`."""
    key = (operation, method, status)
    series = _request_series.get(key)
    if series is None:
        known_method = method if method in _METHODS else "other"
        series = REQUESTS.labels(operation, known_method, str(status))
        if known_method == method:  # clients must not fill the memory with invalid methods
            _request_series[key] = series
    series.observe(seconds)
