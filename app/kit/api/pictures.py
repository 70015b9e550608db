"""Responses that are also available as pictures, by content negotiation."""

from collections.abc import Callable
from typing import Any, Literal

from flask import Response, request

from app.kit.api.responses import Reply

Kind = Literal["png", "svg"]
Draw = Callable[[Any, Kind], bytes]
"""A function that draws the result of a handler as a picture."""

_JSON = "application/json"
_KINDS: dict[str, Kind] = {"image/png": "png", "image/svg+xml": "svg"}
MEDIA_TYPES = tuple(_KINDS)


def negotiate(respond: Callable[[Any], Response], draw: Draw) -> Callable[[Any], Response]:
    """Return a responder that draws the result if the request prefers a picture to JSON.

    For any other `Accept`, JSON is sent.
    """

    def respond_as_accepted(result: Any) -> Response:
        media_type = request.accept_mimetypes.best_match([_JSON, *_KINDS], default=_JSON)
        kind = _KINDS.get(media_type)
        if kind is None:
            response = respond(result)
        else:
            data = result.data if isinstance(result, Reply) else result
            response = Response(draw(data, kind), mimetype=media_type)
            # An SVG that is opened as a page must not run anything.
            response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
        response.vary.add("Accept")
        return response

    return respond_as_accepted


def describe() -> dict[str, Any]:
    """Return the media types of pictures for the description of a response."""
    return {name: {"schema": {"type": "string", "format": "binary"}} for name in MEDIA_TYPES}
