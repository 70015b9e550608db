"""Operations that render their result as a picture for requests that prefer one."""

from typing import Any

import pytest
from flask import Flask

from app.kit.api import documentation
from app.kit.api.blueprint import Blueprint
from app.kit.api.fields import Schema, Str


class Curve(Schema):
    """A curve."""

    name = Str(required=True)


def _draw(result: Any, kind: str) -> bytes:
    return f"{kind} of {result['name']}".encode()


def _create_blueprint() -> Blueprint:
    created = Blueprint("curves")

    @created.get("/curves", access="user", returns=Curve, render_picture=_draw)
    def get_curve() -> dict[str, Any]:
        """Get the curve."""
        return {"name": "a"}

    return created


@pytest.mark.parametrize(
    ("accept", "media_type", "body"),
    [
        ("image/png", "image/png", b"png of a"),
        ("image/svg+xml", "image/svg+xml", b"svg of a"),
        ("image/*", "image/png", b"png of a"),
        ("application/json;q=0.5, image/svg+xml", "image/svg+xml", b"svg of a"),
    ],
)
def test_the_picture_is_sent_to_those_who_prefer_it(
    app: Flask, accept: str, media_type: str, body: bytes
) -> None:
    operation = _create_blueprint().operations[0]
    with app.test_request_context(headers={"Accept": accept}):
        response = operation.respond(operation.handler())
    assert response.mimetype == media_type
    assert response.data == body
    assert response.headers["Vary"] == "Accept"
    assert response.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"


@pytest.mark.parametrize("accept", [None, "*/*", "application/json", "text/html", "nonsense"])
def test_all_others_get_json(app: Flask, accept: str | None) -> None:
    operation = _create_blueprint().operations[0]
    headers = {} if accept is None else {"Accept": accept}
    with app.test_request_context(headers=headers):
        response = operation.respond(operation.handler())
    assert response.json == {"data": {"name": "a"}, "meta": {}}
    assert response.headers["Vary"] == "Accept"


def test_the_description_names_the_media_types() -> None:
    api = documentation.init(Flask(__name__), [_create_blueprint()], {}, "https://example.org")
    described = api.spec.to_dict()["paths"]["/api/v1/curves"]["get"]["responses"]["200"]["content"]
    assert list(described) == ["application/json", "image/png", "image/svg+xml"]
