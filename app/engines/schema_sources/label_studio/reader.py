"""Read a configuration in the order in which users see it."""

from xml.etree.ElementTree import Element

from app.engines.schema_sources.finishing import finish_fields
from app.engines.schema_sources.label_studio.controls import ASKING
from app.engines.schema_sources.label_studio.regions import (
    ON_PAGES,
    ON_TEXT,
    TOOLS,
    add_drawing_tool,
    add_labels,
)
from app.engines.schema_sources.label_studio.scene import PAGES, RECORDINGS, TEXTS, Control, Scene
from app.engines.schema_sources.label_studio.xml import parse_xml
from app.engines.schema_sources.model import SourceError, SourceSchema
from app.engines.schema_sources.texts import to_line

_MAX_HEADERS = 100
_LAYOUT = frozenset(
    {"View", "Style", "Collapse", "Panel", "Filter", "Shortcut", "Markdown", "Table"}
)
_SHOWN = TEXTS | PAGES
_CONTROLS = ASKING.keys() | ON_TEXT | ON_PAGES | TOOLS
_CONDITIONS = ("visibleWhen", "whenTagName", "whenLabelValue", "whenChoiceValue", "whenRole")
_NO_PLACE = {
    "Pairwise": "Comparing documents",
    "Ranker": "Ranking",
    "List": "Ranking",
    "Bucket": "Ranking",
    "Relations": "Relations between regions",
    "Relation": "Relations between regions",
    "TimeSeriesLabels": "Marking recordings",
    "TimelineLabels": "Marking recordings",
    "VideoRectangle": "Marking recordings",
}


def read_label_studio(content: object) -> SourceSchema:
    """Read a labeling configuration, given as XML text. Raises SourceError."""
    if not isinstance(content, str):
        raise SourceError("", "must be text: the XML of a labeling configuration")
    root = parse_xml(content)
    if root.tag != "View":
        raise SourceError("", "must have View as its outermost tag")
    reader = _Reader(_build_scene(root))
    reader.walk(root, conditional=False)
    fields = finish_fields(reader.scene.fields, reader.scene.notes)
    return SourceSchema(
        fields=fields,
        warnings=reader.scene.notes.listed(),
        guidelines="\n\n".join(reader.unused()),
    )


def _build_scene(root: Element) -> Scene:
    objects = {}
    labeled: set[str] = set()
    for element in root.iter():
        if element.tag in _SHOWN | RECORDINGS and element.get("name"):
            objects[element.get("name", "").strip()] = str(element.tag)
        if element.tag in ON_TEXT:
            labeled.update(name.strip() for name in element.get("toName", "").split(","))
    return Scene(objects, frozenset(labeled))


class _Reader:
    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._header = ""
        self._headers: dict[str, bool] = {}

    def unused(self) -> list[str]:
        """Return the headings that describe no field."""
        return [text for text, used in self._headers.items() if not used]

    def walk(self, element: Element, *, conditional: bool) -> None:
        """Add the fields in `element`, which is nested at most 64 levels deep."""
        for child in element:
            tag = str(child.tag)
            shown_if = conditional or any(child.get(name) for name in _CONDITIONS)
            if tag == "Header":
                self._take_header(child)
            elif tag in _CONTROLS:
                self._control(child, conditional=shown_if)
            else:
                self._other(child, tag, str(element.tag))
                self.walk(child, conditional=shown_if)

    def _take_header(self, element: Element) -> None:
        text = to_line(element.get("value") or element.text, 1000)
        if not text or text.startswith("$"):
            return
        if len(self._headers) == _MAX_HEADERS:
            message = f"There are more than {_MAX_HEADERS} headings: the others were left out."
            self.scene.notes.add("Header", message)
            return
        self._headers.setdefault(text, False)
        self._header = text

    def _control(self, element: Element, *, conditional: bool) -> None:
        control = Control(element, self._header, conditional, self.scene)
        if any(inner.tag in _CONTROLS for inner in element.iter() if inner is not element):
            control.note("The controls nested inside it were left out.")
        if conditional:
            control.note("The condition for showing the control was left out.")
        before = len(self.scene.fields)
        if control.element.tag in ASKING:
            ASKING[control.element.tag](control)
        elif control.element.tag in TOOLS:
            add_drawing_tool(control)
        else:
            add_labels(control)
        if len(self.scene.fields) > before and self._header:
            self._headers[self._header] = True
            self._header = ""

    def _other(self, element: Element, tag: str, within: str) -> None:
        if tag in _LAYOUT or tag in _SHOWN:
            return
        path = f"{to_line(tag, 64)}[{to_line(element.get('name'), 64)}]"
        if tag in _NO_PLACE:
            self.scene.notes.add(path, f"{_NO_PLACE[tag]} is not supported and was left out.")
        elif tag in RECORDINGS:
            self.scene.notes.add(
                path, "Recordings are not supported; documents have pages and text."
            )
        elif tag == "Repeater":
            self.scene.notes.add(path, "Content that is repeated for each item was imported once.")
        elif tag in ("Label", "Choice"):
            # Inside another tag, that tag already caused a warning.
            if within in _LAYOUT:
                self.scene.notes.add(path, "This tag belongs to no labeling tag and was left out.")
        elif tag != "Channel":
            self.scene.notes.add(path, "This tag is unknown and was left out.")
