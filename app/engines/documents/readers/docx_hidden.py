"""Determine which parts of a Word document are hidden (ECMA-376, 17.3.2.41 and 17.4.15)."""

from lxml import etree  # type: ignore[import-untyped]

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_VALUE = _WORD + "val"
_OFF = {"0", "false", "off"}


def get_on_off_value(parent: etree._Element | None, name: str) -> bool | None:
    """Return the value of an on-off property, or None if the element `parent` does not set it."""
    element = None if parent is None else parent.find(_WORD + name)
    return None if element is None else is_on(element.get(_VALUE) or "1")


def is_on(value: str) -> bool:
    """Return whether the value of a switch, such as `1` or `false`, turns its property on."""
    return value.lower() not in _OFF


class HiddenStyles:
    """The styles of a document that hide text, directly or by inheritance."""

    def __init__(self, styles: etree._Element | None) -> None:
        self._hidden_by_style: dict[str, bool | None] = {}
        self._base_by_style: dict[str, str | None] = {}
        for style in () if styles is None else styles.iterchildren(_WORD + "style"):
            name = style.get(_WORD + "styleId")
            base = style.find(_WORD + "basedOn")
            self._hidden_by_style[name] = get_on_off_value(style.find(_WORD + "rPr"), "vanish")
            self._base_by_style[name] = None if base is None else base.get(_VALUE)

    def hides_text(self, name: str | None) -> bool | None:
        """Return whether a style hides text, or None if neither it nor a base style specifies this.

        A style's own value overrides the values of its base styles.
        """
        seen: set[str] = set()
        while name is not None and name not in seen:
            hides = self._hidden_by_style.get(name)
            if hides is not None:
                return hides
            seen.add(name)
            name = self._base_by_style.get(name)
        return None

    def is_paragraph_hidden(self, paragraph: etree._Element) -> bool:
        """Return whether the style of a paragraph hides its runs."""
        properties = paragraph.find(_WORD + "pPr")
        style = None if properties is None else properties.find(_WORD + "pStyle")
        return style is not None and self.hides_text(style.get(_VALUE)) is True

    def is_run_hidden(self, run: etree._Element, *, in_hidden_paragraph: bool) -> bool:
        """Return whether a run is hidden by itself, by its style or by its paragraph's style."""
        properties = run.find(_WORD + "rPr")
        if properties is None:
            return in_hidden_paragraph
        run_value = get_on_off_value(properties, "vanish")
        if run_value is not None:
            return run_value
        style = properties.find(_WORD + "rStyle")
        style_value = None if style is None else self.hides_text(style.get(_VALUE))
        return in_hidden_paragraph if style_value is None else style_value


def is_row_hidden(row: etree._Element) -> bool:
    """Return whether a table row is hidden."""
    return get_on_off_value(row.find(_WORD + "trPr"), "hidden") is True
