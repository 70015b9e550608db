"""Routes for health checks and metrics. They are not part of the OpenAPI description."""

import hmac
from collections.abc import Iterator
from typing import Any

from flask import Blueprint, Flask, Response, request
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.kit import container, db, errors, metrics, tokens
from app.kit.api.responses import build_json_response, encode
from app.kit.errors import ApiError
from app.kit.jobs import backlog

health = Blueprint("health", __name__)


@health.get("/health/live")
def get_liveness() -> Response:
    """Report that the process responds."""
    return build_json_response(encode({"status": "live"}), 200)


@health.get("/health/ready")
def get_readiness() -> Response:
    """Report whether requests can be served.

    The status `unavailable` means that the database is unavailable, so that requests cannot be
    served. `degraded` means that background work is late. `behind` then maps each late queue to the
    age of its oldest due job in seconds. An unavailable Redis or a full disk is only shown in
    `checks`, because most requests can still be served.
    """
    checks: dict[str, Any] = {
        "database": _check_database(),
        "redis": _check_redis(),
        "storage": _check_storage(),
    }
    ok = checks["database"] == "ok"
    late_queues = _find_late_queues() if ok else {}
    checks["outbound"] = "on" if container.settings().outbound else "off"
    checks["background"] = ("behind" if late_queues else "ok") if ok else "unknown"
    status = ("degraded" if late_queues else "ready") if ok else "unavailable"
    body = {"status": status, "checks": checks, "behind": late_queues}
    return build_json_response(encode(body), 200 if ok else 503)


def _check_database() -> str:
    try:
        db.session().execute(text("SELECT 1 FROM alembic_version"))
    except SQLAlchemyError:
        return "unavailable"
    return "ok"


def _find_late_queues() -> dict[str, int]:
    try:
        return backlog.list_late_queues()
    except SQLAlchemyError:
        return {}


def _check_redis() -> str:
    try:
        container.current().redis().ping()
    except Exception:  # noqa: BLE001 - any failure means that Redis is unavailable
        return "unavailable"
    return "ok"


def _check_storage() -> str:
    return "full" if container.current().reserve.is_below_reserve() else "ok"


@health.get("/metrics")
def get_metrics() -> Response:
    """Return the metrics in the Prometheus text format. The client must send METRICS_TOKEN."""
    _check_metrics_token()
    body, content_type = metrics.render()
    return Response(body, content_type=content_type)


def _check_metrics_token() -> None:
    expected_token = container.settings().metrics_token
    if not expected_token:
        raise errors.denied("/metrics is disabled. Set METRICS_TOKEN to enable it.")
    token = tokens.parse_bearer(request.headers.get("Authorization")) or ""
    if not hmac.compare_digest(token.encode(), expected_token.encode()):
        message = "The bearer token for /metrics is missing or invalid."
        raise ApiError("invalid_credentials", message)


FREE_BYTES_GAUGE = metrics.Gauge(
    "labeling_storage_free_bytes",
    "Free bytes on the file systems of DATA_DIR (data) and of a local STORAGE_URL (files).",
    ("folder",),
)
RESERVE_BYTES_GAUGE = metrics.Gauge(
    "labeling_storage_reserve_bytes",
    "The value of STORAGE_RESERVE_BYTES. Uploads are refused while less space is free.",
)


def _read_storage_gauges() -> Iterator[metrics.GaugeReading]:
    reserve = container.current().reserve
    yield RESERVE_BYTES_GAUGE.build_reading(reserve.bytes)
    for folder, free in reserve.get_free_bytes().items():
        yield FREE_BYTES_GAUGE.build_reading(free, folder)


metrics.register_collector("storage", _read_storage_gauges)


def init(app: Flask) -> None:
    """Register the health and metrics routes on `app`."""
    app.register_blueprint(health)
