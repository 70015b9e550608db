"""Client for the organization's own model server. It uses a separate egress policy.

Requests to a server are paused after consecutive timeouts. Otherwise, each request to an
unresponsive server would occupy a slot of the queue until the request's deadline. The servers of
two organizations could occupy all slots, and the predictions of other organizations would wait. The
timeouts are counted in Redis, which all workers share. While Redis is unavailable, requests are
sent without pauses.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from hashlib import sha256
from typing import Any, NamedTuple
from uuid import UUID

from redis.exceptions import RedisError

from app.engines.extraction.model import Document
from app.engines.fields import Field, Tag
from app.engines.model_servers import alignment, protocol
from app.engines.model_servers.protocol import InvalidAnswer
from app.kit import container, tenancy
from app.kit.egress import ErrorKind, RequestOutcome
from app.kit.logging import get_logger
from app.kit.secrets import DecryptionFailed
from app.workflow.predictions.queries.records import Provider

log = get_logger(__name__)

DEADLINE_SECONDS = 120.0
TIMED_OUT = "timed_out"
MAX_RESPONSE_BYTES = 2 * 1024 * 1024

_TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_TRANSIENT_KINDS = frozenset(
    {ErrorKind.DNS, ErrorKind.CONNECT, ErrorKind.TIMEOUT, ErrorKind.PROTOCOL}
)
_MAX_RETRY_AFTER_SECONDS = 600
_KEY_REFUSED_STATUSES = frozenset({401, 403})

MAX_TIMEOUTS = 3
"""The number of consecutive timeouts after which the requests to a server are paused."""
FIRST_PAUSE = timedelta(minutes=2)
MAX_PAUSE = timedelta(minutes=10)
_TIMEOUT_COUNT_LIFETIME = timedelta(hours=1)


class PredictionFailed(Exception):  # noqa: N818 - named after the outcome
    """Raised if a prediction failed; if `is_transient` is true, another attempt may succeed.

    `retry_after` is the time in seconds after which the next attempt is allowed.
    """

    def __init__(
        self, code: str, message: str, *, is_transient: bool = False, retry_after: int = 0
    ) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message
        self.is_transient, self.retry_after = is_transient, retry_after


class ServerUnresponsive(Exception):  # noqa: N818 - a signal, not an error
    """Raised if the model server did not respond to earlier requests; no request may be sent now.

    `wait` is the time until the next request may be sent.
    """

    def __init__(self, wait: timedelta) -> None:
        super().__init__(wait)
        self.wait = wait


class Proposal(NamedTuple):
    """The tags that a model or built-in rules proposed; only model servers report token counts."""

    tags: list[Tag]
    model: str
    model_version: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


def predict_with_server(provider: Provider, document: Document, fields: list[Field]) -> Proposal:
    """Request a prediction of a document's tags from the model server; return the proposed tags.

    Raises PredictionFailed, or ServerUnresponsive if no request may be sent to the server now.
    """
    assert provider.base_url is not None
    assert provider.model is not None
    server = ModelServer(tenancy.current_organization_id(), provider.base_url)
    wait = server.reserve_request(timedelta(seconds=DEADLINE_SECONDS))
    if wait is not None:
        raise ServerUnresponsive(wait)
    outcome = container.current().model_egress.request(
        "POST",
        f"{provider.base_url.rstrip('/')}/chat/completions",
        headers=_build_headers(provider),
        body=protocol.build_request(document.text, fields, model=provider.model),
        total_timeout=DEADLINE_SECONDS,
        max_response_bytes=MAX_RESPONSE_BYTES + 1,
        repeatable=False,
    )
    server.record_outcome(is_timeout=outcome.error_kind is ErrorKind.TIMEOUT)
    _check_outcome(outcome)
    try:
        answer = protocol.parse_answer(outcome.body)
    except InvalidAnswer:
        message = "The model server did not return the values as JSON."
        raise PredictionFailed("invalid_answer", message, is_transient=True) from None
    return Proposal(
        alignment.align_values(answer.values, document, fields),
        provider.model,
        answer.model_version or provider.model,
        answer.prompt_tokens,
        answer.completion_tokens,
    )


def _build_headers(provider: Provider) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if provider.key is not None:
        try:
            key = container.keyring().decrypt(provider.key).decode()
        except DecryptionFailed:
            message = "The stored API key cannot be decrypted. Set the API key again."
            raise PredictionFailed("credentials_unreadable", message) from None
        headers["Authorization"] = f"Bearer {key}"
    return headers


def _check_outcome(outcome: RequestOutcome) -> None:
    if outcome.error_kind is not None:
        if outcome.error_kind is ErrorKind.REFUSED_ADDRESS:
            message = f"The address of the model server is not allowed: {outcome.error}."
            raise PredictionFailed("address_refused", message)
        code = TIMED_OUT if outcome.error_kind is ErrorKind.TIMEOUT else "unreachable"
        is_transient = outcome.error_kind in _TRANSIENT_KINDS
        message = f"The model server did not respond: {outcome.error}."
        raise PredictionFailed(code, message, is_transient=is_transient)
    if outcome.status_code in _KEY_REFUSED_STATUSES:
        message = "The model server refused the API key."
        raise PredictionFailed("credentials_refused", message)
    if not outcome.is_success:
        message = f"The model server returned HTTP status {outcome.status_code}."
        is_transient = outcome.status_code in _TRANSIENT_STATUSES
        retry_after = _parse_retry_after(outcome.headers.get("retry-after", ""))
        raise PredictionFailed(
            "refused", message, is_transient=is_transient, retry_after=retry_after
        )
    if len(outcome.body) > MAX_RESPONSE_BYTES:
        message = "The model server's response is larger than 2 MiB."
        raise PredictionFailed("answer_too_large", message)


def _parse_retry_after(value: str) -> int:
    """Return the seconds in a `Retry-After` header, at most 600, or 0 if it has another format."""
    is_number = value.isascii() and value.isdecimal()
    return min(int(value[:9]), _MAX_RETRY_AFTER_SECONDS) if is_number else 0


class ModelServer:
    """The model server of an organization. Requests are paused while the server is unresponsive."""

    def __init__(self, organization_id: UUID, base_url: str) -> None:
        name = f"model_server:{organization_id}:{sha256(base_url.encode()).hexdigest()}"
        self._count_key = f"{name}:timeouts"
        self.pause_key = f"{name}:pause"

    def reserve_request(self, deadline: timedelta) -> timedelta | None:
        """Return None if a request may be sent now, or else how long to wait.

        After a pause, one request may be sent as a trial. The function reserves this trial for its
        caller: it allows no other request within `deadline`.
        """
        with _connect() as client:
            if int(client.get(self._count_key) or 0) < MAX_TIMEOUTS:
                return None
            if client.set(self.pause_key, "", nx=True, px=deadline):
                return None
            return timedelta(milliseconds=max(1, client.pttl(self.pause_key)))
        return None

    def record_outcome(self, *, is_timeout: bool) -> None:
        """Record whether a request timed out. A request that did not time out ends the pause."""
        with _connect() as client:
            if not is_timeout:
                client.delete(self._count_key, self.pause_key)
                return
            count = int(client.incr(self._count_key))
            client.expire(self._count_key, _TIMEOUT_COUNT_LIFETIME)
            if count >= MAX_TIMEOUTS:
                pause = FIRST_PAUSE * 2 ** min(count - MAX_TIMEOUTS, 10)
                client.set(self.pause_key, "", px=min(pause, MAX_PAUSE))


@contextmanager
def _connect() -> Iterator[Any]:
    """Yield a Redis client. If Redis fails, log a warning and end the `with` block early."""
    try:
        with container.current().redis() as client:
            yield client
    except RedisError as error:
        log.warning("model_server.store_unavailable", error=type(error).__name__)
