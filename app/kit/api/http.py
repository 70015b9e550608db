"""Around every request: its id, its log line and metric, security headers, CORS, error bodies."""

import re
import time
from uuid import uuid4

from flask import Flask, Response, g, request
from flask_cors import CORS
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import HTTPException
from werkzeug.middleware.proxy_fix import ProxyFix

from app.kit import audit, db, db_errors, events, metrics, ratelimit, tenancy
from app.kit.api import responses, uploads
from app.kit.errors import ApiError, not_found
from app.kit.logging import bind_request, get_logger
from app.kit.settings import Settings

log = get_logger("app.request")

_SANE_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
_TOKEN = re.compile(r"[A-Za-z0-9_-]{40,}")
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-site",
}
_DEFAULTS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
_ALLOWED_HEADERS = ["Content-Type", "Authorization", "X-Request-ID", "X-Org-Slug", "X-API-Key"]
_EXPOSED_HEADERS = ["ETag", "X-Request-ID", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining"]


def init(app: Flask, settings: Settings) -> None:
    """Install the hooks on `app`."""
    if settings.trusted_proxies:
        hops = settings.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops)  # type: ignore[method-assign]
    if settings.cors_origins:
        CORS(
            app,
            origins=list(settings.cors_origins),
            allow_headers=_ALLOWED_HEADERS,
            expose_headers=_EXPOSED_HEADERS,
            methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            max_age=600,
        )
    if settings.public_url.startswith("https://"):
        _HEADERS["Strict-Transport-Security"] = "max-age=31536000; includeSubDomains"
    app.before_request(_begin)
    app.after_request(_finish)
    app.teardown_request(_teardown)
    app.register_error_handler(ApiError, _answer)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(SQLAlchemyError, _database_error)
    app.register_error_handler(Exception, _unexpected)


def _begin() -> None:
    g.started = time.perf_counter()
    given = request.headers.get("X-Request-ID", "")
    g.request_id = given if _SANE_ID.fullmatch(given) else uuid4().hex
    events.set_request_id(g.request_id)
    bind_request(g.request_id)
    tenancy.bind(None)
    audit.end()


def _finish(response: Response) -> Response:
    headers = response.headers
    headers["X-Request-ID"] = g.get("request_id", "")
    for name, value in _HEADERS.items():
        headers.add(name, value)
    for name, value in _DEFAULTS.items():
        headers.setdefault(name, value)
    if response.status_code == 204:  # noqa: PLR2004
        headers.pop("Content-Type", None)
    ratelimit.add_headers(response)
    seconds = time.perf_counter() - g.get("started", time.perf_counter())
    operation = g.get("operation", "none")
    metrics.observe_request(operation, request.method, response.status_code, seconds)
    log.info(
        "request",
        operation=operation,
        method=request.method,
        path=_told_path(),
        status=response.status_code,
        milliseconds=round(seconds * 1000, 2),
        organization=g.get("org_id"),
    )
    return response


def _told_path() -> str:
    """The path without the tokens that stand in it: who reads the log must not enter by it."""
    path = request.path
    if not request.view_args:
        # No operation's path, which could still be one but for a slip: a method, a slash.
        return _TOKEN.sub("***", path)
    for name, value in (request.view_args or {}).items():
        if name.endswith("_token") and value:
            path = path.replace(value, "***")
    return path


def _teardown(_: BaseException | None) -> None:
    uploads.discard()
    tenancy.bind(None)
    audit.end()
    db.set_reading(reading=False)


def _answer(error: ApiError) -> Response:
    return responses.json_response(responses.encode(error.body()), error.status, error.headers)


def _http_error(error: HTTPException) -> Response:
    code = {405: "method_not_allowed", 413: "payload_too_large", 415: "unsupported_media_type"}
    headers = {}
    if error.code == 405:  # noqa: PLR2004
        headers["Allow"] = ", ".join(sorted(getattr(error, "valid_methods", None) or ()))
    if error.code in code:
        message = error.description or "Not possible here."
        return _answer(ApiError(code[error.code], message, headers=headers))
    if error.code == 404:  # noqa: PLR2004
        return _answer(not_found())
    if error.code is not None and error.code < 500:  # noqa: PLR2004
        return _answer(ApiError("unprocessable", "The request cannot be read.", field="body"))
    return _unexpected(error)


def _database_error(error: SQLAlchemyError) -> Response:
    translated = db_errors.translate(error)
    if isinstance(translated, ApiError):
        return _answer(translated)
    return _unexpected(error)


def _unexpected(error: Exception) -> Response:
    log.error("request.failed", exc_info=error)
    db.session().rollback()
    return _answer(ApiError("internal_error", "Something went wrong here. It has been logged."))
