"""Whether the process lives, whether it can serve, and its metrics; outside the description."""

from typing import Any

from flask import Blueprint, Flask, Response
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.kit import container, db, metrics
from app.kit.api.responses import encode, json_response
from app.kit.jobs import backlog

health = Blueprint("health", __name__)


@health.get("/health/live")
def live() -> Response:
    """The process answers."""
    return json_response(encode({"status": "live"}), 200)


@health.get("/health/ready")
def ready() -> Response:
    """Report whether requests can be served.

    Only without the database they cannot. Late background work is shown, as `degraded` with the
    queues and the seconds that their oldest job waits; it is no reason to send no more requests.
    """
    checks: dict[str, Any] = {"database": _database(), "redis": _redis()}
    ok = checks["database"] == "ok"
    late = _late_queues() if ok else {}
    checks["outbound"] = "on" if container.settings().outbound else "off"
    checks["background"] = ("behind" if late else "ok") if ok else "unknown"
    status = ("degraded" if late else "ready") if ok else "unavailable"
    body = {"status": status, "checks": checks, "behind": late}
    return json_response(encode(body), 200 if ok else 503)


def _database() -> str:
    try:
        db.session().execute(text("SELECT 1 FROM alembic_version"))
    except SQLAlchemyError:
        return "unavailable"
    return "ok"


def _late_queues() -> dict[str, int]:
    try:
        return backlog.list_late()
    except SQLAlchemyError:
        return {}


def _redis() -> str:
    try:
        container.current().redis().ping()
    except Exception:  # noqa: BLE001 - any failure means the same here
        return "unavailable"
    return "ok"


@health.get("/metrics")
def prometheus() -> Response:
    """Prometheus text format."""
    body, content_type = metrics.render()
    return Response(body, content_type=content_type)


def init(app: Flask) -> None:
    """Serve the three pages."""
    app.register_blueprint(health)
