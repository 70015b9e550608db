"""Stream tag sets to export files, with one module per format.

A row is one tag set: `{"tag_set_id", "status", "source", "revision", "artifact": {"id", "name",
"external_id", "media_type", "sha256", "metadata", "page_count", "language", "gold", "archived"},
"schema": {"id", "name", "version_id", "version"}, "labeler_id", "reviewer_id", "submitted_at",
"decided_at", "labels": {field key: value, list of values, or list of table rows}}` and, if
requested, `"tags"`, `"text"` and `"history"`.

To add a format, write a module with a FORMAT, and add the module to FORMATS below. Import a large
library only when a writer is created. If a format needs document pages or files, the caller passes
a `model.Source` that provides them.
"""

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from app.engines.formats import (
    coco,
    conll,
    delimited,
    docile,
    json_array,
    json_lines,
    label_studio,
    parquet,
    spacy_bins,
    xlsx,
)
from app.engines.formats.model import Format, FormatError
from app.engines.schema_messages import describe_violation

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

FORMATS: dict[str, Format] = {
    module.FORMAT.id: module.FORMAT
    for module in (
        *(json_lines, json_array, delimited, xlsx, parquet, label_studio),
        *(conll, spacy_bins, coco, docile),
    )
}


def check_options(format_id: str, options: object) -> dict[str, Any]:
    """Validate export options, and return them with defaults for missing options.

    `options` may be None. Raises FormatError with the path `format` if the format is unknown,
    with the path of an invalid option, or with the path `options` if the value is not an object
    or is nested too deeply.
    """
    if format_id not in FORMATS:
        raise FormatError("format", f"must be one of {', '.join(FORMATS)}")
    values = {} if options is None else options
    if not isinstance(values, Mapping):
        raise FormatError("options", "must be an object")
    option_schemas = FORMATS[format_id].options
    for name in values:
        if name not in option_schemas:
            message = (
                f"must be an option of {format_id}: {', '.join(option_schemas)}"
                if option_schemas
                else f"must be left out, because {format_id} has no options"
            )
            raise FormatError(f"options.{_replace_unprintable_characters(name)}", message)
    try:
        error = next(_get_validator(format_id).iter_errors(values), None)
    except RecursionError:
        raise FormatError("options", "is nested too deeply") from None
    if error is not None:
        path = ".".join(["options", *map(str, error.absolute_path)])
        raise FormatError(path, describe_violation(str(error.validator), error.validator_value))
    return {
        name: values.get(name, schema.get("default")) for name, schema in option_schemas.items()
    }


@functools.cache
def _get_validator(format_id: str) -> "Validator":
    # Imported on first use, because it needs 2 MB of memory per process.
    from jsonschema import Draft202012Validator  # noqa: PLC0415

    return Draft202012Validator(FORMATS[format_id].options_schema)


def _replace_unprintable_characters(name: object) -> str:
    return "".join(char if char.isprintable() else "?" for char in str(name)[:64])
