"""Convert the tags that mark a position: text becomes spans, page areas become regions."""

from xml.etree.ElementTree import Element

from app.engines.schema_sources.label_studio.scene import MANY, PAGES, RECORDINGS, Control
from app.engines.schema_sources.texts import to_line, to_title

ON_TEXT = frozenset({"Labels", "HyperTextLabels", "ParagraphLabels"})
_BOXES = frozenset({"RectangleLabels", "Rectangle", "OcrLabels"})
ON_PAGES = frozenset(
    {
        *("RectangleLabels", "PolygonLabels", "EllipseLabels", "KeyPointLabels", "BrushLabels"),
        *("BitmaskLabels", "VectorLabels", "OcrLabels"),
    }
)
TOOLS = frozenset(
    {"Rectangle", "Polygon", "Ellipse", "KeyPoint", "Brush", "Bitmask", "Vector", "MagicWand"}
)
"""Tags that only draw shapes; a separate `Labels` tag may provide their labels."""


def add_labels(control: Control) -> None:
    """Add a field for each of the labels."""
    kind = _find_kind(control)
    if kind is None:
        control.note("Marking recordings is not supported: its labels were left out.")
        return
    tag = control.element.tag
    if kind == "region" and tag in ON_PAGES and tag not in _BOXES:
        control.note("The drawn shape becomes its bounding box.")
    elements = [element for element in control.element.iter("Label") if _has_label_name(element)]
    if not elements:
        control.note("The labels come with each task: one field takes all of them.")
        control.add(kind, multiple=True)
        return
    if control.per_region:
        control.note("The control is shown for each region: its fields are separate here.")
    required = control.required()
    if required and len(elements) > 1:
        control.note("The rule that one of several labels is required was left out.")
    for element in elements:
        label_name = element.get("value") or element.get("alias")
        path = f"{control.path}.Label[{to_line(label_name, 64)}]"
        value = to_title(label_name, control.scene.notes, path)
        if value.startswith("$"):
            control.scene.notes.add(path, "A label that comes with each task was left out.")
            continue
        once = "1" in (element.get("maxUsages"), control.get("maxUsages"))
        if not once and (element.get("maxUsages") or control.get("maxUsages")):
            control.scene.notes.add(path, MANY)
        control.scene.add(
            element.get("alias") or value,
            path=path,
            label=value,
            type=kind,
            required=required and len(elements) == 1,
            multiple=not once,
            description=element.get("hint") or control.header,
        )


def add_drawing_tool(control: Control) -> None:
    """Add a field for a tag that only draws."""
    drawn_for = {name.strip() for name in control.get("toName").split(",")}
    if control.element.tag not in _BOXES:
        control.note("The drawn shape becomes its bounding box.")
    if not drawn_for & control.scene.labeled:
        control.add("region", multiple=True)


def _has_label_name(element: Element) -> bool:
    return bool(to_line(element.get("value") or element.get("alias")))


def _find_kind(control: Control) -> str | None:
    """Return `span` or `region`, or None if neither text nor pages are marked."""
    targets = control.targets
    if targets and targets <= RECORDINGS:
        return None
    if control.element.tag in ON_PAGES or targets & PAGES:
        return "region"
    return "span"
