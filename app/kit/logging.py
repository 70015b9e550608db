"""Logs as lines of JSON (or text for people), from structlog and the standard library alike.

Every line carries what is bound to the request or job. No line carries a secret: members named
like one are hidden, and so are the forms in which secrets stand inside other text.
"""

import json
import logging
import os
import re
import sys
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, cast

import orjson
import structlog
from structlog.contextvars import bind_contextvars, clear_contextvars, merge_contextvars
from structlog.typing import FilteringBoundLogger

HIDDEN = "[hidden]"
_TEXT_MAX = 16_384
_REPEATED_MAX = 48  # operations, methods, ids of the request: the same over and over
_DEPTH_MAX = 8
_SECRET_NAME = re.compile(
    r"passw|secret|token|authori[sz]ation|api_?-?key|cookie|credential|private_?-?key"
    r"|encryption_?-?key|signature|database_?url|redis_?url|smtp_?url|jwt",
    re.IGNORECASE,
)
# Repetitions are bounded or begin at a fixed word, so that no line takes long to search.
_SECRET_TEXT = re.compile(
    r"""(?ix)
    (?P<scheme>\b(?:bearer|basic)\s+)[\w.~+/=-]{6,}
    | (?P<user>://[^\s/:@]{0,256}:)[^\s/@]{1,256}(?=@)
    | (?P<header>(?:authorization|cookie)[\\"']{0,4}\s{0,4}[=:]\s{0,4}[\\"']{0,4})[^"'\r\n]+
    | (?P<member>(?:password|passwd|secret|token|api[_-]?key)
        [\\"']{0,4}\s{0,4}[=:]\s{0,4}[\\"']{0,4})[^\s&"',;\\]+
    | (?P<parameters>\[parameters:\s).*
    | \beyJ[\w-]{8,512}\.[\w.-]+
    | (?P<key>dl_[a-z0-9]{12})[a-z0-9]{8,512}
    """
)
# At their lower levels these write whole requests, statements with values, or one line per byte.
_TALKATIVE = (
    "aiobotocore", "asyncio", "botocore", "fsspec", "PIL", "s3fs", "sqlalchemy", "urllib3",
    "werkzeug",
)  # fmt: skip
# They bring handlers of their own, past the one here.
_WITH_HANDLERS = ("gunicorn.error", "gunicorn.access", "rq.worker", "flask.app", "werkzeug")

# For gunicorn's `logconfig_dict`: the lines of its arbiter in the same form.
GUNICORN_LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "root": {"level": "INFO", "handlers": ["line"]},
    "handlers": {"line": {"class": "app.kit.logging.LineHandler"}},
    "loggers": {
        name: {"level": "INFO", "handlers": ["line"], "propagate": False, "qualname": name}
        for name in ("gunicorn.error", "gunicorn.access")
    },
}

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


def configure(level: str = "INFO", form: str = "json") -> None:
    """Send everything through here; may be called again.

    :param level: name of the least level written.
    :param form: ``json`` or ``text``.
    """
    number = logging.getLevelNamesMapping()[level]
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
    """The end of structlog's chain: a line becomes one write to standard error.

    One system call needs no lock, so a fork in the middle of a line of another thread is harmless.
    """

    render: Callable[[Event], bytes]

    def __init__(self, name: str = "") -> None:
        self.name = name

    def msg(self, line: bytes) -> None:
        # A closed standard error must not turn a request into a failure.
        with suppress(OSError, ValueError):
            descriptor = sys.stderr.fileno()
            while line:
                line = line[os.write(descriptor, line) :]

    debug = info = warning = error = critical = msg


class LineHandler(logging.Handler):
    """Lines of the standard library's loggers, in the same form."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            event = {**structlog.contextvars.get_contextvars(), "event": record.getMessage()}
            if record.exc_info:
                event["exc_info"] = record.exc_info
            lines = _Lines(record.name)
            lines.msg(_line(lines, record.levelname.lower(), event))
        except Exception:  # noqa: BLE001 - a log line never fails what it tells of
            self.handleError(record)


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


def redact(event: Mapping[str, Any]) -> dict[str, Any]:
    """Hide secrets by the name of their member and by their form; make all else plain values."""
    return {
        key: _hidden_value(value) if _is_secret(key) else _plain(value, 0)
        for key, value in event.items()
    }


@lru_cache(maxsize=1024)
def _is_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def _hidden_value(value: Any) -> Any:
    return value if value is None or isinstance(value, bool) else HIDDEN


def _plain(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, str | int | float):
        return _cleaned(value) if isinstance(value, str) else value
    if depth > _DEPTH_MAX:
        return "[nested too deep]"
    if isinstance(value, Mapping):
        return {
            str(key): _hidden_value(item) if _is_secret(str(key)) else _plain(item, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return f"[{len(value)} bytes]"
    return _cleaned(_as_text(value))


def _as_text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - whatever an object's own code may raise
        return f"[{type(value).__name__}]"


def _cleaned(text: str) -> str:
    if len(text) <= _REPEATED_MAX:
        return _cleaned_before(text)
    if len(text) > _TEXT_MAX:
        text = text[:_TEXT_MAX] + "…"
    return _SECRET_TEXT.sub(_kept, text)


@lru_cache(maxsize=2048)
def _cleaned_before(text: str) -> str:
    return _SECRET_TEXT.sub(_kept, text)


def _kept(match: re.Match[str]) -> str:
    return (match[match.lastgroup] if match.lastgroup else "") + HIDDEN


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
        line += "\n" + "\n".join(f"    {text}" for text in trace.splitlines())
    return line.encode("utf-8", "backslashreplace") + b"\n"


def _word(value: Any) -> str:
    # Quoted as JSON, a value with line breaks cannot pass for a line of its own.
    if isinstance(value, str) and re.fullmatch(r"[\w./:@+-]+", value, re.ASCII):
        return value
    return json.dumps(value)


configure()
