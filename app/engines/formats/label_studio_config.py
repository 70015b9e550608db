"""Build the labeling configuration for a Label Studio project with the exported tasks.

Each field has a label for text spans, and a separate control for values without a text span. The
names of all other elements contain an upper-case letter, so that they differ from every field key.
"""

import re
from collections.abc import Iterator, Mapping

from app.engines.formats.model import Field

TEXT, LABEL, OTHER = "Text", "Label", "Other"
"""The `name` attributes of the elements `<Text>` and `<Labels>`, and of the control element for all
other values."""

_ENTITIES = {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
_INVALID_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def list_choices(field: Field) -> list[str]:
    """Return the choices for a boolean or choice field, or an empty list for all other fields.

    Options that Label Studio would not show unchanged are left out.
    """
    if field["type"] == "boolean":
        return ["true", "false"]
    options = field.get("options") or () if field["type"] == "choice" else ()
    return [option["value"] for option in options if is_shown_unchanged(option["value"])]


def is_shown_unchanged(value: str) -> bool:
    """Return whether Label Studio shows a value unchanged.

    Label Studio does not show empty values, values that are invalid in XML, and values with a
    leading dollar sign, which it treats as variables.
    """
    return (
        bool(value.strip()) and not value.startswith("$") and _INVALID_IN_XML.search(value) is None
    )


def build_config(columns: Mapping[str, Field]) -> str:
    """Build the labeling configuration as XML. `columns` is a result of `build_column_map`."""
    return "\n".join(["<View>", *_build_labels(columns), *_build_controls(columns), "</View>"])


def _build_labels(columns: Mapping[str, Field]) -> Iterator[str]:
    if columns:
        yield f'  <Labels name="{LABEL}" toName="{TEXT}">'
        for name in columns:
            yield f"    <Label value={_quote(name)}/>"
        yield "  </Labels>"
    yield f'  <Text name="{TEXT}" value="$text"/>'


def _build_controls(columns: Mapping[str, Field]) -> Iterator[str]:
    for name, field in columns.items():
        label = field.get("label") or name
        yield f"  <Header value={_quote(label if is_shown_unchanged(label) else name)}/>"
        choices = list_choices(field)
        if not choices:
            yield _build_text_area(name)
            continue
        mode = "multiple" if field.get("multiple") or "." in name else "single"
        yield f'  <Choices name={_quote(name)} toName="{TEXT}" choice="{mode}">'
        for choice in choices:
            yield f"    <Choice value={_quote(choice)}/>"
        yield "  </Choices>"
    yield f'  <Header value="{OTHER}"/>'
    yield _build_text_area(OTHER)


def _build_text_area(name: str) -> str:
    return (
        f'  <TextArea name={_quote(name)} toName="{TEXT}" maxSubmissions="10000" editable="true"/>'
    )


def _quote(text: str) -> str:
    # Imported on first use, because it imports an HTTP client, which most processes never need.
    from xml.sax.saxutils import escape  # noqa: PLC0415

    return f'"{escape(text, _ENTITIES)}"'
