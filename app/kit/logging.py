"""Logs as lines of JSON, or of text on a terminal, from structlog and the standard library alike.

Every line carries what is bound to the request or job. No line carries a secret: members named
like one are hidden, and so are the forms in which secrets stand inside other text. No caller waits
for a line to be written (`app.kit.line_output`).
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

# At their lower levels these write whole requests, statements with values, or one line per byte.
_TALKATIVE = (
    "aiobotocore", "alembic.runtime.plugins", "asyncio", "botocore", "fsspec", "PIL", "s3fs",
    "sqlalchemy", "urllib3", "werkzeug",
)  # fmt: skip
# They bring handlers of their own, beside the one here.
_WITH_HANDLERS = ("gunicorn.error", "gunicorn.access", "rq.worker", "flask.app", "werkzeug")

_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

Event = MutableMapping[str, Any]


def get_logger(name: str) -> FilteringBoundLogger:
    """A logger; events are named ``subject.what_happened``, all else goes into members."""
    return cast("FilteringBoundLogger", structlog.get_logger(name))


def bind_request(request_id: str, organization: str = "") -> None:
    """Begin a request: its id stands in every line until the next one begins."""
    clear_contextvars()
    bind_contextvars(request_id=request_id)
    bind_organization(organization)


def bind_organization(organization: str) -> None:
    """Add the organization, once it is proven."""
    if organization:
        bind_contextvars(organization=organization)


def bind_job(job_id: str, request_id: str | None = None, organization: str = "") -> None:
    """Begin a job, with the id of the request that caused it."""
    clear_contextvars()
    bind_contextvars(job_id=job_id)
    if request_id:
        bind_contextvars(request_id=request_id)
    bind_organization(organization)


def configure(level: str = "INFO", form: str = "auto") -> None:
    """Send everything through here; may be called again.

    :param level: name of the least level written.
    :param form: ``json``, ``text``, or ``auto``: text on a terminal and JSON elsewhere.
    """
    number = logging.getLevelNamesMapping()[level]
    if form == "auto":
        form = "text" if _is_terminal() else "json"
    _Lines.render = _render_json if form == "json" else _render_text
    structlog.configure(
        processors=[merge_contextvars, _line],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=_Lines,
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers = [h for h in root.handlers if not isinstance(h, LineHandler)] + [LineHandler()]
    root.setLevel(number)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(max(number, logging.WARNING))
    for name in _WITH_HANDLERS:
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True
    logging.captureWarnings(capture=True)


class _Lines:
    """The end of structlog's chain: hands a line to the output, which never blocks."""

    render: Callable[[Event], bytes]

    def __init__(self, name: str = "") -> None:
        self.name = name

    def msg(self, line: bytes) -> None:
        _output.write(line)

    debug = info = warning = error = critical = msg


class LineHandler(logging.Handler):
    """Lines of the standard library's loggers, in the same form."""

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
            lines.msg(_line(lines, record.levelname.lower(), event))
        except Exception as failure:  # noqa: BLE001 - a log line never fails what it tells of
            # The standard library would write a traceback to standard error, and wait for it.
            text = f"{type(failure).__name__}: {str(record.msg)[:100]}"
            lines.msg(_line(lines, "error", {"event": "log.failed", "error": text}))


class OutageNotice:
    """Tells the first line about an outage from the following ones, which are left out.

    An outage is over when there was no line about it for `quiet_seconds`.
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
# RQ writes a line or two for each of its attempts, some with the tracebacks of a whole chain.
_redis_outage = OutageNotice()


def _shorten_outage(event: Event, failure: BaseException | None) -> Event:
    """Return the first line of RQ's message, and the failure in a few words."""
    text = str(event["event"]).partition("\n")[0]
    short = {**event, "event": text, "error": f"{type(failure).__name__}: {failure}"}
    short.pop("exc_info", None)
    return short


def _line(lines: _Lines, level: str, event: Event) -> bytes:
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
    return _line(lines, "warning", {"event": "log.lines_dropped", "count": count})


def _standard_error() -> int:
    return sys.stderr.fileno()


def _is_terminal() -> bool:
    try:
        return os.isatty(_standard_error())
    except (AttributeError, OSError, ValueError):  # none, or one without a descriptor
        return False


_output = LineOutput(_standard_error, describe_dropped=_describe_dropped)


def count_dropped_lines(count: Callable[[int], object]) -> None:
    """Have `count(lines)` called whenever lines are dropped because nobody reads them."""
    _output.on_dropped = count


def flush(seconds: float = EXIT_SECONDS) -> bool:
    """Wait until every line is written, at most `seconds`; return whether that is so.

    For processes that end with `os._exit`. Other exits do it by themselves.
    """
    return _output.flush(seconds)


def log_uncaught_exceptions() -> None:
    """Write the exceptions that end a process or a thread as log lines.

    Python would write them to standard error by itself, and wait for its reader.
    """
    log = get_logger("app.process")

    def end_process(
        kind: type[BaseException], failure: BaseException, trace: TracebackType | None
    ) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            log.critical("process.failed", exc_info=(kind, failure, trace))

    def end_thread(ending: threading.ExceptHookArgs) -> None:
        name = ending.thread.name if ending.thread else None
        trace = (ending.exc_type, ending.exc_value, ending.exc_traceback)
        log.error("thread.failed", name=name, exc_info=trace)

    sys.excepthook = end_process
    threading.excepthook = end_thread


def _render_json(event: Event) -> bytes:
    try:
        return orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # lone surrogates, or whole numbers beyond 64 bits
        return json.dumps(event).encode() + b"\n"


def _render_text(event: Event) -> bytes:
    head = (
        f"{event.pop('timestamp', '')} {event.pop('level', ''):<8} {_word(event.pop('event', ''))}"
    )
    trace = event.pop("exception", None)
    line = " ".join([head, *(f"{key}={_word(value)}" for key, value in event.items())])
    if trace:
        line += "\n" + "\n".join(f"    {_escape_controls(text)}" for text in trace.splitlines())
    return line.encode("utf-8", "backslashreplace") + b"\n"


def _escape_controls(text: str) -> str:
    # What a client sent may stand in an exception: it must not move the terminal's cursor.
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _word(value: Any) -> str:
    # Quoted as JSON, a value with line breaks cannot pass for a line of its own.
    if isinstance(value, str) and re.fullmatch(r"[\w./:@+-]+", value, re.ASCII):
        return value
    return json.dumps(value)


configure()
