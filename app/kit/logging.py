"""Log lines as JSON, or as text on a terminal, from structlog and the standard library.

Every line contains the values that are bound to the request or job. No line contains a secret:
values with the name of a secret are hidden, and so is text that looks like a secret. Callers never
wait for a line to be written (`app.kit.line_output`).
"""

import json
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, MutableMapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, cast

import orjson
import structlog
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from structlog.contextvars import bind_contextvars, clear_contextvars, merge_contextvars
from structlog.typing import FilteringBoundLogger

from app.kit.line_output import EXIT_SECONDS, LineOutput
from app.kit.redaction import redact

# At lower levels these loggers log whole requests, statements with values, or one line per byte.
_VERBOSE_LOGGERS = (
    "aiobotocore", "alembic.runtime.plugins", "asyncio", "botocore", "fsspec", "PIL", "s3fs",
    "paramiko", "sqlalchemy", "urllib3", "werkzeug",
)  # fmt: skip
# These loggers install their own handlers, which `configure` removes.
_LOGGERS_WITH_HANDLERS = ("gunicorn.error", "gunicorn.access", "rq.worker", "flask.app", "werkzeug")

_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

Event = MutableMapping[str, Any]


def get_logger(name: str) -> FilteringBoundLogger:
    """Return a logger. Name events `subject.what_happened`; pass details as keyword arguments."""
    return cast("FilteringBoundLogger", structlog.get_logger(name))


def bind_request(request_id: str, organization: str = "") -> None:
    """Begin a request; its id is in every line until the next request begins."""
    clear_contextvars()
    bind_contextvars(request_id=request_id)
    bind_organization(organization)


def bind_organization(organization: str) -> None:
    """Bind the organization, once the caller is authenticated."""
    if organization:
        bind_contextvars(organization=organization)


def bind_job(job_id: str, request_id: str | None = None, organization: str = "") -> None:
    """Begin a job; `request_id` is the id of the request that caused it."""
    clear_contextvars()
    bind_contextvars(job_id=job_id)
    if request_id:
        bind_contextvars(request_id=request_id)
    bind_organization(organization)


def configure(level: str = "INFO", form: str = "auto") -> None:
    """Configure structlog and the standard library's loggers; may be called again.

    Args:
        level: the name of the lowest level that is written.
        form: `json`, `text`, or `auto` for text on a terminal and JSON elsewhere.
    """
    number = logging.getLevelNamesMapping()[level]
    if form == "auto":
        form = "text" if _is_terminal() else "json"
    _Lines.render = _render_json if form == "json" else _render_text
    structlog.configure(
        processors=[merge_contextvars, _render_line],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=_Lines,
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers = [h for h in root.handlers if not isinstance(h, LineHandler)] + [LineHandler()]
    root.setLevel(number)
    for name in _VERBOSE_LOGGERS:
        logging.getLogger(name).setLevel(max(number, logging.WARNING))
    for name in _LOGGERS_WITH_HANDLERS:
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True
    logging.captureWarnings(capture=True)


class _Lines:
    """Last step of structlog's chain; passes a line to the output, which never blocks."""

    render: Callable[[Event], bytes]

    def __init__(self, name: str = "") -> None:
        self.name = name

    def msg(self, line: bytes) -> None:
        _output.write(line)

    debug = info = warning = error = critical = msg


class LineHandler(logging.Handler):
    """Writes the records of the standard library's loggers in the same format."""

    def emit(self, record: logging.LogRecord) -> None:
        lines = _Lines(record.name)
        try:
            event: Event = {**structlog.contextvars.get_contextvars()}
            event["event"] = record.getMessage()
            if record.exc_info:
                event["exc_info"] = record.exc_info
            if record.name.startswith("rq") and isinstance(sys.exc_info()[1], _REDIS_OUTAGES):
                if not _redis_outage.is_first_line():
                    return
                event = _shorten_outage(event, sys.exc_info()[1])
            lines.msg(_render_line(lines, record.levelname.lower(), event))
        except Exception as failure:  # noqa: BLE001 - logging must never fail its caller
            # The standard library would write a traceback to standard error, and wait for it.
            text = f"{type(failure).__name__}: {str(record.msg)[:100]}"
            lines.msg(_render_line(lines, "error", {"event": "log.failed", "error": text}))


class OutageNotice:
    """Detects the first line about an outage, so that the following lines can be left out.

    An outage is over after `quiet_seconds` without a line about it.
    """

    def __init__(self, quiet_seconds: float = 30.0) -> None:
        self._quiet_seconds = quiet_seconds
        self._last_at = float("-inf")

    def is_first_line(self) -> bool:
        """Return whether this line is the first of an outage."""
        now = time.monotonic()
        is_first = now - self._last_at > self._quiet_seconds
        self._last_at = now
        return is_first


_REDIS_OUTAGES = (RedisConnectionError, RedisTimeoutError)
# RQ logs one or two lines for each attempt, sometimes with tracebacks of chained exceptions.
_redis_outage = OutageNotice()


def _shorten_outage(event: Event, failure: BaseException | None) -> Event:
    """Return the event with only the first line of its message and a short error."""
    text = str(event["event"]).partition("\n")[0]
    short = {**event, "event": text, "error": f"{type(failure).__name__}: {failure}"}
    short.pop("exc_info", None)
    return short


def _render_line(lines: _Lines, level: str, event: Event) -> bytes:
    if "exc_info" in event:
        event = structlog.processors.format_exc_info(None, level, event)
    head = {
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "level": level,
        "logger": lines.name,
        "event": "",
    }
    return _Lines.render({**head, **redact(event)})


def _describe_dropped(count: int) -> bytes:
    lines = _Lines("app.kit.logging")
    return _render_line(lines, "warning", {"event": "log.lines_dropped", "count": count})


def _get_stderr_descriptor() -> int:
    return sys.stderr.fileno()


def _is_terminal() -> bool:
    try:
        return os.isatty(_get_stderr_descriptor())
    except (AttributeError, OSError, ValueError):  # no standard error, or one without a descriptor
        return False


_output = LineOutput(_get_stderr_descriptor, describe_dropped=_describe_dropped)


def set_dropped_lines_callback(callback: Callable[[int], object]) -> None:
    """Set the function that is called with the number of dropped lines when lines are dropped."""
    _output.on_dropped = callback


def flush(seconds: float = EXIT_SECONDS) -> bool:
    """Wait at most `seconds` until every line is written; return whether all are written.

    For processes that end with `os._exit`. A regular exit does this automatically.
    """
    return _output.flush(seconds)


def log_uncaught_exceptions() -> None:
    """Log the exceptions that end a process or a thread.

    Python itself would write them to standard error and wait for its reader.
    """
    log = get_logger("app.process")

    def log_process_failure(
        kind: type[BaseException], failure: BaseException, trace: TracebackType | None
    ) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            log.critical("process.failed", exc_info=(kind, failure, trace))

    def log_thread_failure(args: threading.ExceptHookArgs) -> None:
        name = args.thread.name if args.thread else None
        trace = (args.exc_type, args.exc_value, args.exc_traceback)
        log.error("thread.failed", name=name, exc_info=trace)

    sys.excepthook = log_process_failure
    threading.excepthook = log_thread_failure


def _render_json(event: Event) -> bytes:
    try:
        return orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # lone surrogates, or whole numbers beyond 64 bits
        return json.dumps(event).encode() + b"\n"


def _render_text(event: Event) -> bytes:
    timestamp, level = event.pop("timestamp", ""), event.pop("level", "")
    head = f"{timestamp} {level:<8} {_render_value(event.pop('event', ''))}"
    trace = event.pop("exception", None)
    line = " ".join([head, *(f"{key}={_render_value(value)}" for key, value in event.items())])
    if trace:
        line += "\n" + "\n".join(f"    {_escape_controls(text)}" for text in trace.splitlines())
    return line.encode("utf-8", "backslashreplace") + b"\n"


def _escape_controls(text: str) -> str:
    # An exception may contain text of a client, which must not move the terminal's cursor.
    return _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def _render_value(value: object) -> str:
    # Quoting as JSON prevents a value with line breaks from looking like a separate log line.
    if isinstance(value, str) and re.fullmatch(r"[\w./:@+-]+", value, re.ASCII):
        return value
    return json.dumps(value)


configure()
