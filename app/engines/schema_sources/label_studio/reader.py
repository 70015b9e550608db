"""Read a labeling configuration in the order in which users see its tags."""

from xml.etree.ElementTree import Element

from app.engines.schema_sources.finishing import normalize_fields
from app.engines.schema_sources.label_studio.controls import VALUE_CONTROLS
from app.engines.schema_sources.label_studio.import_state import (
    PAGE_TAGS,
    RECORDING_TAGS,
    TEXT_TAGS,
    Control,
    ImportState,
)
from app.engines.schema_sources.label_studio.regions import (
    DRAWING_TAGS,
    PAGE_LABEL_TAGS,
    TEXT_LABEL_TAGS,
    add_drawing_tool,
    add_labels,
)
from app.engines.schema_sources.label_studio.xml import parse_xml
from app.engines.schema_sources.model import SchemaSourceError, SourceSchema
from app.engines.schema_sources.texts import to_line

_MAX_HEADERS = 100
_LAYOUT_TAGS = frozenset(
    {"View", "Style", "Collapse", "Panel", "Filter", "Shortcut", "Markdown", "Table"}
)
_OBJECT_TAGS = TEXT_TAGS | PAGE_TAGS
_CONTROL_TAGS = VALUE_CONTROLS.keys() | TEXT_LABEL_TAGS | PAGE_LABEL_TAGS | DRAWING_TAGS
_CONDITION_ATTRIBUTES = (
    "visibleWhen",
    "whenTagName",
    "whenLabelValue",
    "whenChoiceValue",
    "whenRole",
)
_UNSUPPORTED_TAGS = {
    "Pairwise": "Comparing documents",
    "Ranker": "Ranking",
    "List": "Ranking",
    "Bucket": "Ranking",
    "Relations": "Linking regions",
    "Relation": "Linking regions",
    "TimeSeriesLabels": "Marking recordings",
    "TimelineLabels": "Marking recordings",
    "VideoRectangle": "Marking recordings",
}


def read_label_studio(content: object) -> SourceSchema:
    """Read a labeling configuration from XML text.

    Raises SchemaSourceError if `content` is invalid, or has no tags from which fields can be
    created.
    """
    if not isinstance(content, str):
        raise SchemaSourceError("", "must be text: the XML of a labeling configuration")
    root = parse_xml(content)
    if root.tag != "View":
        raise SchemaSourceError("", "must have View as its outermost tag")
    reader = _LabelStudioReader(_build_import_state(root))
    reader.add_fields(root, is_conditional=False)
    fields = normalize_fields(reader.state.fields, reader.state.collector)
    return SourceSchema(
        fields=fields,
        warnings=reader.state.collector.list_warnings(),
        guidelines="\n\n".join(reader.list_unused_headings()),
    )


def _build_import_state(root: Element) -> ImportState:
    object_types = {}
    labeled_names: set[str] = set()
    for element in root.iter():
        if element.tag in _OBJECT_TAGS | RECORDING_TAGS and element.get("name"):
            object_types[element.get("name", "").strip()] = str(element.tag)
        if element.tag in TEXT_LABEL_TAGS:
            labeled_names.update(name.strip() for name in element.get("toName", "").split(","))
    return ImportState(object_types, frozenset(labeled_names))


class _LabelStudioReader:
    def __init__(self, state: ImportState) -> None:
        self.state = state
        self._header = ""
        self._heading_usage: dict[str, bool] = {}

    def list_unused_headings(self) -> list[str]:
        """Return the headings that were not used to describe a field."""
        return [text for text, is_used in self._heading_usage.items() if not is_used]

    def add_fields(self, element: Element, *, is_conditional: bool) -> None:
        """Add the fields for the tags in `element`, which has at most 64 levels of tags."""
        for child in element:
            tag = str(child.tag)
            is_child_conditional = is_conditional or any(
                child.get(name) for name in _CONDITION_ATTRIBUTES
            )
            if tag == "Header":
                self._read_header(child)
            elif tag in _CONTROL_TAGS:
                self._add_control(child, is_conditional=is_child_conditional)
            else:
                self._warn_about_tag(child, tag, str(element.tag))
                self.add_fields(child, is_conditional=is_child_conditional)

    def _read_header(self, element: Element) -> None:
        text = to_line(element.get("value") or element.text, 1000)
        if not text or text.startswith("$"):
            return
        if len(self._heading_usage) == _MAX_HEADERS:
            message = (
                f"There are more than {_MAX_HEADERS} headings: the other headings were left out."
            )
            self.state.collector.add("Header", message)
            return
        self._heading_usage.setdefault(text, False)
        self._header = text

    def _add_control(self, element: Element, *, is_conditional: bool) -> None:
        control = Control(element, self._header, is_conditional, self.state)
        if any(inner.tag in _CONTROL_TAGS for inner in element.iter() if inner is not element):
            control.add_warning("The controls inside this control were left out.")
        if is_conditional:
            control.add_warning("The condition for showing the control was left out.")
        field_count = len(self.state.fields)
        if control.element.tag in VALUE_CONTROLS:
            VALUE_CONTROLS[control.element.tag](control)
        elif control.element.tag in DRAWING_TAGS:
            add_drawing_tool(control)
        else:
            add_labels(control)
        if len(self.state.fields) > field_count and self._header:
            self._heading_usage[self._header] = True
            self._header = ""

    def _warn_about_tag(self, element: Element, tag: str, parent_tag: str) -> None:
        if tag in _LAYOUT_TAGS or tag in _OBJECT_TAGS or tag == "Channel":
            return
        if tag in _UNSUPPORTED_TAGS:
            message = f"{_UNSUPPORTED_TAGS[tag]} is not supported and was left out."
        elif tag in RECORDING_TAGS:
            message = "Recordings are not supported, because documents only have pages and text."
        elif tag == "Repeater":
            message = "Content that is repeated for each item was imported once."
        elif tag not in ("Label", "Choice"):
            message = "This tag is unknown and was left out."
        elif parent_tag in _LAYOUT_TAGS:
            message = "This tag is not inside a labeling tag and was left out."
        else:
            return  # the parent has already caused a warning
        path = f"{to_line(tag, 64)}[{to_line(element.get('name'), 64)}]"
        self.state.collector.add(path, message)
