"""Convert Label Studio tags that mark text or page areas to span fields or region fields."""

from xml.etree.ElementTree import Element

from app.engines.schema_sources.label_studio.import_state import (
    MAXIMUM_LEFT_OUT_MESSAGE,
    PAGE_TAGS,
    RECORDING_TAGS,
    Control,
)
from app.engines.schema_sources.texts import to_line, to_title

TEXT_LABEL_TAGS = frozenset({"Labels", "HyperTextLabels", "ParagraphLabels"})
_BOX_TAGS = frozenset({"RectangleLabels", "Rectangle", "OcrLabels"})
PAGE_LABEL_TAGS = frozenset(
    {
        *("RectangleLabels", "PolygonLabels", "EllipseLabels", "KeyPointLabels", "BrushLabels"),
        *("BitmaskLabels", "VectorLabels", "OcrLabels"),
    }
)
DRAWING_TAGS = frozenset(
    {"Rectangle", "Polygon", "Ellipse", "KeyPoint", "Brush", "Bitmask", "Vector", "MagicWand"}
)
"""Tags that only draw shapes; a separate `Labels` tag may provide their labels."""


def add_labels(control: Control) -> None:
    """Add a span or region field for each label of the control, or one field if it has no labels.

    Labels for recordings are left out with a warning.
    """
    field_type = _find_field_type(control)
    if field_type is None:
        control.add_warning("Labels for recordings are not supported, so they were left out.")
        return
    tag = control.element.tag
    if field_type == "region" and tag in PAGE_LABEL_TAGS and tag not in _BOX_TAGS:
        control.add_warning("Drawn shapes are stored as their bounding boxes.")
    elements = [element for element in control.element.iter("Label") if _has_label_name(element)]
    if not elements:
        control.add_warning("The labels come with each task: one field takes all labels.")
        control.add_field(field_type, multiple=True)
        return
    if control.is_per_region:
        control.add_warning(
            "The control is shown for each region: its fields are not linked to regions."
        )
    required = control.resolve_required()
    if required and len(elements) > 1:
        control.add_warning("The rule that one of several labels is required was left out.")
    for element in elements:
        _add_label(control, element, field_type, required=required and len(elements) == 1)


def _add_label(control: Control, element: Element, field_type: str, *, required: bool) -> None:
    label_name = element.get("value") or element.get("alias")
    path = f"{control.path}.Label[{to_line(label_name, 64)}]"
    value = to_title(label_name, control.state.collector, path)
    if value.startswith("$"):
        control.state.collector.add(path, "A label that comes with each task was left out.")
        return
    is_single = "1" in (element.get("maxUsages"), control.get("maxUsages"))
    if not is_single and (element.get("maxUsages") or control.get("maxUsages")):
        control.state.collector.add(path, MAXIMUM_LEFT_OUT_MESSAGE)
    control.state.add_field(
        element.get("alias") or value,
        path=path,
        label=value,
        type=field_type,
        required=required,
        multiple=not is_single,
        description=element.get("hint") or control.header,
    )


def add_drawing_tool(control: Control) -> None:
    """Add a region field for a tag that only draws shapes.

    Adds no field if a tag such as `Labels` refers to the same object, because that tag adds fields.
    """
    target_names = {name.strip() for name in control.get("toName").split(",")}
    if control.element.tag not in _BOX_TAGS:
        control.add_warning("Drawn shapes are stored as their bounding boxes.")
    if not target_names & control.state.labeled_names:
        control.add_field("region", multiple=True)


def _has_label_name(element: Element) -> bool:
    return bool(to_line(element.get("value") or element.get("alias")))


def _find_field_type(control: Control) -> str | None:
    """Find the field type: `span` or `region`, or None if the control only marks recordings."""
    target_types = control.target_types
    if target_types and target_types <= RECORDING_TAGS:
        return None
    if control.element.tag in PAGE_LABEL_TAGS or target_types & PAGE_TAGS:
        return "region"
    return "span"
