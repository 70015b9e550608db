"""Routes that serve the OpenAPI description, Swagger UI and ReDoc."""

import hashlib
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import orjson
from flask import Blueprint, Flask, Response, request
from werkzeug.exceptions import NotFound

_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
    "frame-ancestors 'none'; base-uri 'none'"
)


def init(app: Flask, title: str, describe: Callable[[], dict[str, Any]]) -> None:
    """Register the documentation routes on `app`, and cache the description from `describe`."""
    pages = Blueprint("documentation", __name__)
    cached: list[tuple[bytes, str]] = []

    @pages.get("/openapi.json")
    def openapi() -> Response:
        if not cached:
            body = orjson.dumps(describe())
            cached.append((body, hashlib.sha256(body).hexdigest()[:32]))
        body, etag = cached[0]
        response = Response(body, mimetype="application/json")
        response.set_etag(etag)
        response.headers["Cache-Control"] = "no-cache"
        response.make_conditional(request)
        return response

    @pages.get("/docs")
    def docs() -> Response:
        return _build_page(_SWAGGER_PAGE.format(title=title, icon=_ICON_LINK))

    @pages.get("/redoc")
    def redoc() -> Response:
        return _build_page(_REDOC_PAGE.format(title=title, icon=_ICON_LINK))

    @pages.get("/docs/assets/<name>")
    def asset(name: str) -> Response:
        return _read_asset(name)

    app.register_blueprint(pages)


def _build_page(html: str) -> Response:
    response = Response(html, mimetype="text/html")
    response.headers["Content-Security-Policy"] = _CONTENT_SECURITY_POLICY
    return response


_ICON_LINK = '<link rel="icon" type="image/png" href="/docs/assets/favicon.png">'
_ASSETS = {
    "favicon.png": ("flask_swagger_ui", "dist/favicon-32x32.png", "image/png"),
    "swagger-ui.css": ("flask_swagger_ui", "dist/swagger-ui.css", "text/css"),
    "swagger-ui-bundle.js": ("flask_swagger_ui", "dist/swagger-ui-bundle.js", "text/javascript"),
    "redoc.standalone.js": (
        "flask_openapi3_redoc",
        "templates/redoc/js/redoc.standalone.js",
        "text/javascript",
    ),
}
_REDOC_LOGO = b"https://cdn.redoc.ly/redoc/logo-mini.svg"
_NO_LOGO = b"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E"
_INIT_SCRIPT = (
    'window.ui = SwaggerUIBundle({url: "/openapi.json", dom_id: "#ui", deepLinking: true, '
    "validatorUrl: null, persistAuthorization: false});"
)
_SWAGGER_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
{icon}<link rel="stylesheet" href="/docs/assets/swagger-ui.css"></head><body><div id="ui"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/init.js"></script></body></html>"""
_REDOC_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
{icon}<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><redoc spec-url="/openapi.json" disable-search="false"></redoc>
<script src="/docs/assets/redoc.standalone.js"></script></body></html>"""


def _read_asset(name: str) -> Response:
    if name == "init.js":
        return Response(_INIT_SCRIPT, mimetype="text/javascript")
    if name not in _ASSETS:
        raise NotFound
    package, path, media_type = _ASSETS[name]
    # ReDoc would load a logo from another host.
    content = (files(package) / path).read_bytes().replace(_REDOC_LOGO, _NO_LOGO)
    response = Response(content, mimetype=media_type)
    response.headers["Cache-Control"] = "public, max-age=86400"
    return response
