"""Hooks around every request: request id, logging, metrics, headers, CORS and error bodies."""

import re
import time
from collections.abc import Mapping

from flask import Flask, Response, g, request
from flask_cors import CORS
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import HTTPException
from werkzeug.middleware.proxy_fix import ProxyFix

from app.kit import audit, db, db_errors, events, metrics, plan_limits, ratelimit, tenancy
from app.kit.api import headers, responses, uploads
from app.kit.errors import ApiError, not_found
from app.kit.logging import bind_request, get_logger
from app.kit.settings import Settings

log = get_logger("app.request")

_TOKEN_PATTERN = re.compile(r"[A-Za-z0-9_-]{40,}")
_CORS_REQUEST_HEADERS = ["Content-Type", "Authorization", "X-Request-ID", "X-Org-Slug", "X-API-Key"]


def init(app: Flask, settings: Settings) -> None:
    """Register the hooks and error handlers on `app`, and set up its trusted proxies and CORS.

    The handler of HTTP exceptions is registered by the API (see `documentation.Api`).
    """
    if settings.trusted_proxies:
        hops = settings.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops)  # type: ignore[method-assign]
    if settings.cors_origins:
        CORS(
            app,
            origins=list(settings.cors_origins),
            allow_headers=_CORS_REQUEST_HEADERS,
            expose_headers=headers.EXPOSED_HEADERS,
            methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            max_age=600,
        )
    security_headers = headers.build_security_headers(settings)
    app.before_request(_begin_request)
    app.after_request(lambda response: _finish_response(response, security_headers))
    app.teardown_request(_release_resources)
    app.register_error_handler(ApiError, _build_error_response)
    app.register_error_handler(SQLAlchemyError, _handle_database_error)
    app.register_error_handler(Exception, _handle_unexpected_error)


def _begin_request() -> None:
    g.started_at = time.perf_counter()
    g.request_id = headers.choose_request_id(request.headers.get("X-Request-ID", ""))
    events.set_request_id(g.request_id)
    bind_request(g.request_id)
    tenancy.bind(None)
    plan_limits.set_caller_organization(None)
    audit.unbind_operation()


def _finish_response(response: Response, security_headers: Mapping[str, str]) -> Response:
    response.headers["X-Request-ID"] = g.get("request_id", "")
    for name, value in security_headers.items():
        response.headers.add(name, value)
    for name, value in headers.DEFAULTS.items():
        response.headers.setdefault(name, value)
    if response.status_code == 204:  # noqa: PLR2004
        response.headers.pop("Content-Type", None)
    ratelimit.add_headers(response)
    seconds = time.perf_counter() - g.get("started_at", time.perf_counter())
    operation = g.get("operation", "none")
    metrics.observe_request(operation, request.method, response.status_code, seconds)
    # Probes and scrapes recur every few seconds, so only failures are logged at info level.
    is_probe = request.blueprint == "health" and response.status_code < 400  # noqa: PLR2004
    write = log.debug if is_probe else log.info
    write(
        "request",
        operation=operation,
        method=request.method,
        path=_redact_path(),
        status=response.status_code,
        milliseconds=round(seconds * 1000, 2),
        organization=g.get("org_id"),
    )
    return response


def _redact_path() -> str:
    """Return the request path without tokens, so that nobody can use tokens from the log."""
    path = request.path
    if not request.view_args:
        # No route matched, for example because of a trailing slash. The path may contain a token.
        return _TOKEN_PATTERN.sub("***", path)
    for name, value in (request.view_args or {}).items():
        if name.endswith("_token") and value:
            path = path.replace(value, "***")
    return path


def _release_resources(_: BaseException | None) -> None:
    uploads.discard()
    tenancy.bind(None)
    plan_limits.set_caller_organization(None)
    audit.unbind_operation()
    db.set_read_only(read_only=False)


def _build_error_response(error: ApiError) -> Response:
    return responses.build_json_response(
        responses.encode(error.build_body()), error.status, error.headers
    )


def handle_http_error(error: HTTPException) -> Response:
    """Return the error response for an exception of Flask or Werkzeug."""
    error_codes = {
        405: "method_not_allowed",
        413: "payload_too_large",
        415: "unsupported_media_type",
    }
    extra_headers = {}
    if error.code == 405:  # noqa: PLR2004
        extra_headers["Allow"] = ", ".join(sorted(getattr(error, "valid_methods", None) or ()))
    if error.code in error_codes:
        message = error.description or "The request cannot be processed."
        return _build_error_response(
            ApiError(error_codes[error.code], message, headers=extra_headers)
        )
    if error.code == 404:  # noqa: PLR2004
        return _build_error_response(not_found())
    if error.code is not None and error.code < 500:  # noqa: PLR2004
        return _build_error_response(
            ApiError("unprocessable", "The request is malformed.", field="body")
        )
    return _handle_unexpected_error(error)


def _handle_database_error(error: SQLAlchemyError) -> Response:
    api_error = db_errors.translate(error)
    if isinstance(api_error, ApiError):
        return _build_error_response(api_error)
    return _handle_unexpected_error(error)


def _handle_unexpected_error(error: Exception) -> Response:
    log.error("request.failed", exc_info=error)
    db.session().rollback()
    return _build_error_response(
        ApiError("internal_error", "An internal error occurred. It has been logged.")
    )
