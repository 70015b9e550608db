"""Redaction of log events. Secrets are hidden, and other values are converted for JSON."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

HIDDEN = "[hidden]"
_MAX_TEXT_LENGTH = 16_384
_MAX_CACHED_LENGTH = 48  # operations, methods and ids of requests are often repeated
_MAX_DEPTH = 8
_SECRET_NAME = re.compile(
    r"passw|secret|token|authori[sz]ation|api_?-?key|cookie|credential|private_?-?key"
    r"|encryption_?-?key|signature|database_?url|redis_?url|smtp_?url|jwt",
    re.IGNORECASE,
)
# All repetitions are bounded or follow a fixed word, so that no line takes long to search.
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


def redact(event: Mapping[str, Any]) -> dict[str, Any]:
    """Hide secrets, and convert all other values to types that JSON supports.

    A value is hidden if its name indicates a secret, unless it is None or a boolean. In other
    texts, only the parts that look like secrets are hidden. Long texts are cut.
    """
    return {
        key: _hide_value(value) if _is_secret_name(key) else _to_plain_value(value, 0)
        for key, value in event.items()
    }


@lru_cache(maxsize=1024)
def _is_secret_name(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def _hide_value(value: object) -> object:
    return value if value is None or isinstance(value, bool) else HIDDEN


def _to_plain_value(value: object, depth: int) -> object:
    if value is None or isinstance(value, str | int | float):
        return _redact_text(value) if isinstance(value, str) else value
    if depth > _MAX_DEPTH:
        return "[nested too deeply]"
    if isinstance(value, Mapping):
        return {
            str(key): _hide_value(item)
            if _is_secret_name(str(key))
            else _to_plain_value(item, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [_to_plain_value(item, depth + 1) for item in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return f"[{len(value)} bytes]"
    return _redact_text(_convert_to_text(value))


def _convert_to_text(value: object) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - the object's class may raise anything
        return f"[{type(value).__name__}]"


def _redact_text(text: str) -> str:
    if len(text) <= _MAX_CACHED_LENGTH:
        return _redact_text_cached(text)
    if len(text) > _MAX_TEXT_LENGTH:
        text = text[:_MAX_TEXT_LENGTH] + "…"
    return _SECRET_TEXT.sub(_replace_secret, text)


@lru_cache(maxsize=2048)
def _redact_text_cached(text: str) -> str:
    return _SECRET_TEXT.sub(_replace_secret, text)


def _replace_secret(match: re.Match[str]) -> str:
    return (match[match.lastgroup] if match.lastgroup else "") + HIDDEN
