"""Error responses that the server itself sends if a request cannot reach the application."""

from email.utils import formatdate
from http import HTTPStatus

from app.kit import metrics
from app.kit.api import headers, responses
from app.kit.errors import ApiError
from app.kit.logging import get_logger
from app.kit.serving.requests import Request
from app.kit.settings import Settings

log = get_logger("app.serving")


class RefusalRenderer:
    """Renders error responses with the same envelope and headers as those of the application."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._common_headers = {**headers.build_security_headers(settings), **headers.DEFAULTS}

    def render(self, error: ApiError, request: Request | None) -> bytes:
        """Return a complete response with `Connection: close`, and record it in log and metrics."""
        body = responses.encode(error.build_body())
        client_id = request.get_header("X-REQUEST-ID") if request else ""
        request_id = headers.choose_request_id(client_id)
        response_headers = {
            "Date": formatdate(usegmt=True),
            "Connection": "close",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "X-Request-ID": request_id,
            **self._common_headers,
            **error.headers,
        }
        origin = request.get_header("ORIGIN") if request else ""
        if origin:
            response_headers |= headers.build_cors_headers(self._settings, origin)
        method = request.method if request else ""
        self._record(error, method, request_id)
        head = f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in response_headers.items())
        return head.encode("latin-1") + b"\r\n" + (b"" if method == "HEAD" else body)

    def _record(self, error: ApiError, method: str, request_id: str) -> None:
        metrics.observe_request("none", method, error.status, 0.0)
        log.info(
            "request.refused",
            method=method,
            status=error.status,
            reason=error.message,
            request_id=request_id,
        )
