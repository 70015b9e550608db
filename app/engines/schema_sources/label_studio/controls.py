"""Convert the tags with which users enter values: choices, text, numbers and dates."""

from collections.abc import Callable, Iterator, Mapping
from xml.etree.ElementTree import Element

from app.engines.fields.definition import MAX_LABEL_CHARS, MAX_OPTIONS
from app.engines.schema_sources.finishing import select_constraints
from app.engines.schema_sources.label_studio.import_state import MAXIMUM_LEFT_OUT_MESSAGE, Control
from app.engines.schema_sources.texts import to_line

_SEPARATOR = " / "
_MAX_PATH_CHARS = 2 * MAX_LABEL_CHARS


def add_choices(control: Control) -> None:
    """Add a choice field for choices, or a text field if there are no options or too many."""
    _add_choice_field(control, multiple=control.get("choice") == "multiple")


def add_taxonomy(control: Control) -> None:
    """Add a field in the same way as `add_choices`; the paths in the taxonomy become options."""
    if control.get("maxUsages") not in ("", "1"):
        control.add_warning(MAXIMUM_LEFT_OUT_MESSAGE)
    _add_choice_field(control, multiple=control.get("maxUsages") != "1")


def add_text_area(control: Control) -> None:
    """Add a text field for a text area."""
    max_submissions = control.get("maxSubmissions")
    if max_submissions not in ("", "1"):
        control.add_warning(MAXIMUM_LEFT_OUT_MESSAGE)
    if control.get("value").startswith("$"):
        control.add_warning("The text that comes with each task is not used as a default.")
    control.add_field(
        "text",
        multiple=max_submissions.isdecimal() and int(max_submissions[:9]) > 1,
        description=control.get("placeholder"),
    )


def add_number(control: Control) -> None:
    """Add a number field."""
    for name in ("step", "defaultValue"):
        if control.get(name):
            control.add_warning(f"The attribute {name} was left out.")
    _add_limited_field(control, "number", control.get("min"), control.get("max"))


def add_rating(control: Control) -> None:
    """Add an integer field for a star rating, from 1 to the maximum rating."""
    _add_limited_field(control, "integer", 1, control.get("maxRating") or "5")


def add_date_time(control: Control) -> None:
    """Add a field for a date, a time of day, or both, depending on the attribute `only`.

    A year becomes an integer field, and any other part of a date becomes a text field.
    """
    parts = {part.strip().lower() for part in control.get("only").split(",")} - {""}
    if not parts or {"date", "time"} <= parts:
        field_type = "datetime"
    elif "date" in parts:
        field_type = "date"
    elif "time" in parts:
        field_type = "time"
    elif parts == {"year"}:
        field_type = "integer"
    else:
        field_type = "text"
        control.add_warning("There is no type for part of a date: the field takes text.")
    _add_limited_field(control, field_type, control.get("min"), control.get("max"))


VALUE_CONTROLS: Mapping[str, Callable[[Control], None]] = {
    "Choices": add_choices,
    "Taxonomy": add_taxonomy,
    "TextArea": add_text_area,
    "Number": add_number,
    "Rating": add_rating,
    "DateTime": add_date_time,
}


def _add_limited_field(control: Control, field_type: str, low: object, high: object) -> None:
    """Add a field with a minimum and a maximum, each of which may be an empty string."""
    limits = {name: value for name, value in (("min", low), ("max", high)) if value != ""}
    constraints = select_constraints(limits, field_type, control.state.collector, control.path)
    control.add_field(field_type, constraints=constraints)


def _add_choice_field(control: Control, *, multiple: bool) -> None:
    options, hint_text = _read_options(control, multiple=multiple)
    has_task_options = control.get("value").startswith("$")
    if not options:
        reason = "The options come with each task" if has_task_options else "There are no options"
        control.add_warning(f"{reason}: the field takes text.")
        control.add_field("text", multiple=multiple, description=hint_text)
    elif len(options) > MAX_OPTIONS:
        control.add_warning(f"There are more than {MAX_OPTIONS:,} options: the field takes text.")
        control.add_field("text", multiple=multiple, description=hint_text)
    else:
        if has_task_options:
            control.add_warning("The options that come with each task were left out.")
        control.add_field("choice", multiple=multiple, options=options, description=hint_text)


def _read_options(control: Control, *, multiple: bool) -> tuple[list[dict[str, str]], str]:
    """Return the usable options of a control, and their hints as one text."""
    separator = (control.element.get("pathSeparator") or _SEPARATOR)[:MAX_LABEL_CHARS]
    leaves_only = control.is_true("leafsOnly")
    options: dict[str, dict[str, str]] = {}
    hints = []
    for value, label, element in _iterate_choices(control.element, "", "", separator):
        if leaves_only and element.find("Choice") is not None:
            continue  # The element only groups the options below it.
        option = {"value": to_line(value), "label": to_line(label)}
        if option["value"] != " ".join(value.split()):
            control.add_warning(
                f"An option of more than {MAX_LABEL_CHARS} characters was truncated."
            )
        if not to_line(element.get("value") or element.get("alias")):
            control.add_warning("An option without a value was left out.")
            continue
        if option["value"] in options:
            control.add_warning("An option that appears twice was imported once.")
            continue
        options[option["value"]] = option
        _warn_about_option_rules(control, element, multiple=multiple)
        hints += [f"- {option['label']}: {element.get('hint')}"] if element.get("hint") else []
    return list(options.values()), "\n".join(hints)


def _warn_about_option_rules(control: Control, option: Element, *, multiple: bool) -> None:
    if option.get("selected", "").lower() == "true":
        control.add_warning("The preselection of an option was left out.")
    if option.get("exclusive", "").lower() == "true" and multiple:
        control.add_warning("The rule that an option excludes all other options was left out.")


def _iterate_choices(
    element: Element, value_prefix: str, label_prefix: str, separator: str
) -> Iterator[tuple[str, str, Element]]:
    """Yield the value, label and element of each choice below `element`.

    Each value is prefixed with the values of its parent choices, and each label with their labels.
    """
    for child in element:
        if child.tag != "Choice":
            yield from _iterate_choices(child, value_prefix, label_prefix, separator)
            continue
        label = child.get("value") or child.get("alias") or ""
        value = child.get("alias") or label
        # Truncate early, because all nested choices repeat the prefix.
        value = (value_prefix + value)[:_MAX_PATH_CHARS]
        label = (label_prefix + label)[:_MAX_PATH_CHARS]
        yield value, label, child
        yield from _iterate_choices(child, value + separator, label + separator, separator)
