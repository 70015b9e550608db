"""Register the HTTP API and the HTML pages on the Flask application."""

from flask import Flask

from app import endpoints
from app.identity.api_keys import service as api_keys
from app.identity.auth import service as auth
from app.kit import health, workbench
from app.kit.api import documentation, http, operation
from app.kit.principal import Authenticator
from app.kit.settings import Settings


def init(app: Flask, settings: Settings) -> None:
    """Add the API, its description, authentication, health checks, workbench and pages to `app`."""
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.url_map.merge_slashes = False
    http.init(app, settings)
    documentation.init(app, endpoints.BLUEPRINTS, endpoints.WEBHOOKS, settings.public_url)
    health.init(app)
    workbench.init(app, settings)
    for pages in endpoints.PAGES:
        app.register_blueprint(pages)
    operation.authenticator.bind(
        Authenticator(
            authenticate_token=auth.authenticate_token,
            authenticate_api_key=api_keys.authenticate_key,
        )
    )
