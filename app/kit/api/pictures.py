"""Responses that are also available as pictures, by content negotiation."""

from collections.abc import Callable
from typing import Any, Literal

from flask import Response, request

from app.kit.api.responses import Reply

PictureFormat = Literal["png", "svg"]
Render = Callable[[Any, PictureFormat], bytes]
"""A function that renders a handler's result as a picture."""

_JSON = "application/json"
_FORMATS: dict[str, PictureFormat] = {"image/png": "png", "image/svg+xml": "svg"}
MEDIA_TYPES = tuple(_FORMATS)


def negotiate(respond: Callable[[Any], Response], render: Render) -> Callable[[Any], Response]:
    """Return a responder that renders the result if the request prefers a picture to JSON.

    For any other `Accept` header, the response is JSON.
    """

    def respond_as_accepted(result: object) -> Response:
        media_type = request.accept_mimetypes.best_match([_JSON, *_FORMATS], default=_JSON)
        picture_format = _FORMATS.get(media_type)
        if picture_format is None:
            response = respond(result)
        else:
            data = result.data if isinstance(result, Reply) else result
            response = Response(render(data, picture_format), mimetype=media_type)
            # An SVG that is opened as a page must not run scripts.
            response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
        response.vary.add("Accept")
        return response

    return respond_as_accepted


def build_content() -> dict[str, Any]:
    """Return the OpenAPI `content` of a response that may be a picture, by media type."""
    return {name: {"schema": {"type": "string", "format": "binary"}} for name in MEDIA_TYPES}
