"""Routes for the web application. They are not API operations.

All pages return the same HTML, because the application evaluates the path in the browser. An
unknown path still returns 404.
"""

from pathlib import Path
from urllib.parse import urlsplit

from flask import Blueprint, Flask, Response, g, request, send_from_directory
from werkzeug.exceptions import NotFound

from app.kit.errors import ApiError
from app.kit.settings import Settings
from app.kit.workbench import build

PATHS = ("/", "/sign-in", "/sign-on", "/organizations", "/o/<slug>/", "/o/<slug>/<path:page>")
"""The paths of all pages, except pages that emails link to (`app.identity.pages`)."""

_ENCODINGS = {"br": ".br", "gzip": ".gz"}
_IMMUTABLE = "public, max-age=31536000, immutable"
_ONE_DAY = "public, max-age=86400"


def init(app: Flask, settings: Settings, dist: Path = build.DIST) -> None:
    """Register routes that serve the build in `dist`, unless the setting WORKBENCH is off."""
    if not settings.workbench:
        return
    base = urlsplit(settings.public_url).path.rstrip("/")
    app.extensions[build.EXTENSION] = build.BuildFolder(dist, base)
    pages = Blueprint("workbench", __name__)
    for path in PATHS:
        pages.add_url_rule(path, "page", show_page, methods=["GET"])
    pages.add_url_rule(
        f"/{build.FOLDER}/<path:name>", "file", lambda name: send_file(dist, name), methods=["GET"]
    )
    app.register_blueprint(pages)


def show_page(**_: str) -> Response:
    """Return the HTML of the web application.

    Raises a 404 error that explains how to build the application if it has not been built.
    """
    g.operation = "show_workbench"
    current_build = build.find_build()
    if current_build is None:
        raise ApiError(
            "not_found",
            "The workbench has not been built. `make run` builds it; the API works without it.",
        )
    html, policy = current_build.render_index()
    response = Response(html, mimetype="text/html")
    response.headers["Content-Security-Policy"] = policy
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    return response


def send_file(dist: Path, name: str) -> Response:
    """Return the response with a file from the build, compressed if the client accepts it."""
    g.operation = "get_workbench_file"
    folder = dist / build.FOLDER
    accepted_codings = [coding for coding in _ENCODINGS if request.accept_encodings.quality(coding)]
    for coding in accepted_codings:
        try:
            response = send_from_directory(folder, name + _ENCODINGS[coding])
        except NotFound:
            continue
        response.headers["Content-Encoding"] = coding
        break
    else:
        response = send_from_directory(folder, name)
    response.headers.pop("Content-Disposition", None)
    response.mimetype = _MEDIA_TYPES.get(Path(name).suffix, "application/octet-stream")
    response.headers["Cache-Control"] = _IMMUTABLE if "-" in name else _ONE_DAY
    response.headers["Vary"] = "Accept-Encoding"
    return response


_MEDIA_TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".wasm": "application/wasm",
    ".png": "image/png",
    ".json": "application/json",
}
