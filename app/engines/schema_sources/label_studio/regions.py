"""The tags that mark a place: words of a text become spans, areas of a page become regions."""

from xml.etree.ElementTree import Element

from app.engines.schema_sources.label_studio.scene import MANY, PAGES, RECORDINGS, Control
from app.engines.schema_sources.texts import line, titled

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
"""They draw, and leave the labels to a tag `Labels`; without one, the drawing is all there is."""


def labels(control: Control) -> None:
    """A field for each of the labels."""
    kind = _kind(control)
    if kind is None:
        control.note("There is nothing to mark in recordings here: its labels were left out.")
        return
    tag = control.element.tag
    if kind == "region" and tag in ON_PAGES and tag not in _BOXES:
        control.note("What is drawn becomes the box around it.")
    found = [element for element in control.element.iter("Label") if _named(element)]
    if not found:
        control.note("The labels come with each task: one field takes all of them.")
        control.add(kind, multiple=True)
        return
    if control.per_region:
        control.note("It is asked for each region: its fields stand on their own here.")
    required = control.required()
    if required and len(found) > 1:
        control.note("That one of several labels is required has no place here.")
    for element in found:
        named = element.get("value") or element.get("alias")
        path = f"{control.path}.Label[{line(named, 64)}]"
        value = titled(named, control.scene.notes, path)
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
            required=required and len(found) == 1,
            multiple=not once,
            description=element.get("hint") or control.header,
        )


def tool(control: Control) -> None:
    """A tag that only draws."""
    drawn_for = {name.strip() for name in control.get("toName").split(",")}
    if control.element.tag not in _BOXES:
        control.note("What is drawn becomes the box around it.")
    if not drawn_for & control.scene.labeled:
        control.add("region", multiple=True)


def _named(element: Element) -> bool:
    return bool(line(element.get("value") or element.get("alias")))


def _kind(control: Control) -> str | None:
    """`span`, `region`, or None where neither words nor pages are marked."""
    targets = control.targets
    if targets and targets <= RECORDINGS:
        return None
    if control.element.tag in ON_PAGES or targets & PAGES:
        return "region"
    return "span"
