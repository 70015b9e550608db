"""Log lines as JSON, or as text on a terminal, from structlog and the standard library.

Every line contains the values that are bound to the request or job. No line contains a secret:
values whose names indicate a secret are hidden, and so is text that looks like a secret. Callers
never wait for a line to be written (`app.kit.line_output`).
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

# Below WARNING, these loggers log whole requests, statements with values, or one line per byte.
_VERBOSE_LOGGERS = (
    "aiobotocore", "alembic.runtime.plugins", "asyncio", "botocore", "fsspec", "PIL", "s3fs",
    "paramiko", "sqlalchemy", "urllib3", "werkzeug",
)  # fmt: skip
# These loggers install their own handlers, which `configure` removes.
_LOGGERS_WITH_HANDLERS = ("gunicorn.error", "gunicorn.access", "rq.worker", "flask.app", "werkzeug")

_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

LogEvent = MutableMapping[str, Any]


def get_logger(name: str) -> FilteringBoundLogger:
    """Return a structured logger.

    Name events like `email.refused`, and pass details as keyword arguments.
    """
    return cast("FilteringBoundLogger", structlog.get_logger(name))


def bind_request(request_id: str) -> None:
    """Bind a request id to all log lines until the next request or job begins."""
    clear_contextvars()
    bind_contextvars(request_id=request_id)


def bind_organization(organization_id: str) -> None:
    """Bind an organization's id to all following log lines, unless it is an empty string."""
    if organization_id:
        bind_contextvars(organization=organization_id)


def bind_job(job_id: str, request_id: str | None = None, organization_id: str = "") -> None:
    """Bind a job to all log lines until the next request or job begins.

    `request_id` is the id of the request that caused the job.
    """
    clear_contextvars()
    bind_contextvars(job_id=job_id)
    if request_id:
        bind_contextvars(request_id=request_id)
    bind_organization(organization_id)


def configure(level: str = "INFO", line_format: str = "auto") -> None:
    """Configure structlog and the standard library's loggers. It may be called again.

    Args:
        level: the name of the lowest level to write.
        line_format: `json`, `text`, or `auto` for text on a terminal and JSON elsewhere.
    """
    level_number = logging.getLevelNamesMapping()[level]
    if line_format == "auto":
        line_format = "text" if _is_terminal() else "json"
    _LineLogger.render = _render_json if line_format == "json" else _render_text
    structlog.configure(
        processors=[merge_contextvars, _render_line],
        wrapper_class=structlog.make_filtering_bound_logger(level_number),
        logger_factory=_LineLogger,
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers = [h for h in root.handlers if not isinstance(h, LineHandler)] + [LineHandler()]
    root.setLevel(level_number)
    for name in _VERBOSE_LOGGERS:
        logging.getLogger(name).setLevel(max(level_number, logging.WARNING))
    for name in _LOGGERS_WITH_HANDLERS:
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True
    logging.captureWarnings(capture=True)


class _LineLogger:
    """The last step in structlog's chain. It writes lines to the output, which never blocks."""

    render: Callable[[LogEvent], bytes]

    def __init__(self, name: str = "") -> None:
        self.name = name

    def msg(self, line: bytes) -> None:
        _output.write(line)

    debug = info = warning = error = critical = msg


class LineHandler(logging.Handler):
    """Writes the records of the standard library's loggers in the format of this module."""

    def emit(self, record: logging.LogRecord) -> None:
        line_logger = _LineLogger(record.name)
        try:
            event: LogEvent = {**structlog.contextvars.get_contextvars()}
            event["event"] = record.getMessage()
            if record.exc_info:
                event["exc_info"] = record.exc_info
            if record.name.startswith("rq") and isinstance(sys.exc_info()[1], _REDIS_OUTAGE_ERRORS):
                if not _redis_outage_detector.record_line():
                    return
                event = _shorten_outage(event, sys.exc_info()[1])
            line_logger.msg(_render_line(line_logger, record.levelname.lower(), event))
        except Exception as failure:  # noqa: BLE001 - the caller must not fail
            # The standard library would write a traceback to standard error, which may block.
            text = f"{type(failure).__name__}: {str(record.msg)[:100]}"
            event = {"event": "log.failed", "error": text}
            line_logger.msg(_render_line(line_logger, "error", event))


class OutageDetector:
    """Detects the first log line about an outage, so that the following lines can be left out.

    An outage is over after `quiet_seconds` without a line about it.
    """

    def __init__(self, quiet_seconds: float = 30.0) -> None:
        self._quiet_seconds = quiet_seconds
        self._last_at = float("-inf")

    def record_line(self) -> bool:
        """Record that a line about the outage occurs now. Return whether it is the first line."""
        now = time.monotonic()
        is_first = now - self._last_at > self._quiet_seconds
        self._last_at = now
        return is_first


_REDIS_OUTAGE_ERRORS = (RedisConnectionError, RedisTimeoutError)
# RQ logs one or two lines for each attempt to connect, sometimes with long tracebacks.
_redis_outage_detector = OutageDetector()


def _shorten_outage(event: LogEvent, failure: BaseException | None) -> LogEvent:
    """Cut the message to one line, and replace the traceback with the failure's type and text."""
    text = str(event["event"]).partition("\n")[0]
    short_event = {**event, "event": text, "error": f"{type(failure).__name__}: {failure}"}
    short_event.pop("exc_info", None)
    return short_event


def _render_line(line_logger: _LineLogger, level: str, event: LogEvent) -> bytes:
    if "exc_info" in event:
        event = structlog.processors.format_exc_info(None, level, event)
    leading_fields = {
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "level": level,
        "logger": line_logger.name,
        "event": "",
    }
    return _LineLogger.render({**leading_fields, **redact(event)})


def _describe_dropped(count: int) -> bytes:
    line_logger = _LineLogger("app.kit.logging")
    return _render_line(line_logger, "warning", {"event": "log.lines_dropped", "count": count})


def _get_stderr_descriptor() -> int:
    return sys.stderr.fileno()


def _is_terminal() -> bool:
    try:
        return os.isatty(_get_stderr_descriptor())
    except (AttributeError, OSError, ValueError):  # no standard error, or no descriptor
        return False


_output = LineOutput(_get_stderr_descriptor, describe_dropped=_describe_dropped)


def set_dropped_lines_callback(callback: Callable[[int], object]) -> None:
    """Set the callback that receives the number of dropped lines whenever log lines are dropped."""
    _output.on_dropped = callback


def flush(seconds: float = EXIT_SECONDS) -> bool:
    """Wait up to `seconds` for all lines to be written. Return whether all were written.

    Use it in processes that exit with `os._exit`. A regular exit does this automatically.
    """
    return _output.flush(seconds)


def install_exception_hooks() -> None:
    """Install hooks that log the uncaught exceptions of the process and its threads.

    By default, Python writes them to standard error, which blocks while nobody reads the pipe.
    """
    log = get_logger("app.process")

    def log_process_failure(
        error_type: type[BaseException], failure: BaseException, trace: TracebackType | None
    ) -> None:
        if not issubclass(error_type, KeyboardInterrupt):
            log.critical("process.failed", exc_info=(error_type, failure, trace))

    def log_thread_failure(args: threading.ExceptHookArgs) -> None:
        name = args.thread.name if args.thread else None
        trace = (args.exc_type, args.exc_value, args.exc_traceback)
        log.error("thread.failed", name=name, exc_info=trace)

    sys.excepthook = log_process_failure
    threading.excepthook = log_thread_failure


def _render_json(event: LogEvent) -> bytes:
    try:
        return orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # lone surrogates, or whole numbers beyond 64 bits
        return json.dumps(event).encode() + b"\n"


def _render_text(event: LogEvent) -> bytes:
    timestamp, level = event.pop("timestamp", ""), event.pop("level", "")
    leading_fields = f"{timestamp} {level:<8} {_render_value(event.pop('event', ''))}"
    trace = event.pop("exception", None)
    line = " ".join(
        [leading_fields, *(f"{key}={_render_value(value)}" for key, value in event.items())]
    )
    if trace:
        line += "\n" + "\n".join(f"    {_escape_controls(text)}" for text in trace.splitlines())
    return line.encode("utf-8", "backslashreplace") + b"\n"


def _escape_controls(text: str) -> str:
    # An exception may contain text from a client, which must not move the terminal's cursor.
    return _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def _render_value(value: object) -> str:
    # Quoting as JSON prevents a value with line breaks from looking like a separate log line.
    if isinstance(value, str) and re.fullmatch(r"[\w./:@+-]+", value, re.ASCII):
        return value
    return json.dumps(value)


configure()
