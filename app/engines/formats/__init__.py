"""Exports: label sets to files, streamed, one module per format.

A row is one label set: `{"tag_set_id", "status", "source", "artifact": {"id", "name",
"external_id", "media_type", "sha256", "metadata", "page_count", "language", "gold", "archived"},
"schema": {"id", "name", "version_id", "version"}, "labeler_id", "reviewer_id", "submitted_at",
"decided_at", "labels": {field key: value, list of values, or list of rows}}` and, where they were
asked for, `"tags"`, `"text"` and `"history"`.

A new format is a module with a FORMAT and a line below; it imports a heavy library only when a
writer is made.
"""

import functools
import importlib
from collections.abc import Mapping
from typing import Any

from app.engines.formats import delimited, json_lines
from app.engines.formats.labels import labels_from_tags, union_fields
from app.engines.formats.model import KEEPS, Format, FormatError, Writer

__all__ = [
    "FORMATS",
    "KEEPS",
    "Format",
    "FormatError",
    "Writer",
    "check_options",
    "labels_from_tags",
    "union_fields",
]

FORMATS: dict[str, Format] = {
    format_.id: format_ for format_ in (json_lines.FORMAT, delimited.FORMAT)
}


def check_options(format_id: str, options: object) -> dict[str, Any]:
    """The options with every default filled in; None stands for no options.

    Raises FormatError on `format` when it is unknown, else on the option at fault.
    """
    if format_id not in FORMATS:
        raise FormatError("format", f"must be one of {', '.join(FORMATS)}")
    given = {} if options is None else options
    if not isinstance(given, Mapping):
        raise FormatError("options", "must be an object")
    known: Mapping[str, Any] = FORMATS[format_id].options_schema["properties"]
    for name in given:
        if name not in known:
            message = f"{format_id} takes {', '.join(known) or 'no options'}"
            raise FormatError(f"options.{_shown(name)}", message)
    try:
        error = next(_validator(format_id).iter_errors(given), None)
    except RecursionError:
        raise FormatError("options", "is nested too deeply") from None
    if error is not None:
        path = ".".join(["options", *map(str, error.absolute_path)])
        raise FormatError(path, f"must fit {error.validator}: {error.validator_value}")
    return {name: given.get(name, option.get("default")) for name, option in known.items()}


@functools.cache
def _validator(format_id: str) -> Any:
    jsonschema: Any = importlib.import_module("jsonschema")  # on first use: 2 MB per process
    return jsonschema.Draft202012Validator(FORMATS[format_id].options_schema)


def _shown(name: object) -> str:
    return "".join(char if char.isprintable() else "?" for char in str(name)[:64])
