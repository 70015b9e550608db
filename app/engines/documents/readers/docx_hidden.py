"""Determine which text and table rows of a DOCX are hidden (ECMA-376, 17.3.2.41 and 17.4.15)."""

from lxml import etree  # type: ignore[import-untyped]

from app.engines.documents.readers.docx_styles import (
    WORD_NAMESPACE,
    Styles,
    get_on_off_value,
    get_style_id,
    get_value,
)


class HiddenStyles:
    """Determines whether the styles of a document hide a paragraph or a run.

    A style may inherit this property from its base styles.
    """

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._hidden_by_style: dict[str, bool | None] = {}

    def hides_text(self, style_id: str) -> bool | None:
        """Return whether a style hides text, or None if it and its base styles do not specify this.

        The value of a style overrides the values of its base styles.
        """
        if style_id not in self._hidden_by_style:
            values = (
                get_on_off_value(style.find(WORD_NAMESPACE + "rPr"), "vanish")
                for style in self._styles.iterate_style_and_bases(style_id)
            )
            self._hidden_by_style[style_id] = next(
                (value for value in values if value is not None), None
            )
        return self._hidden_by_style[style_id]

    def is_paragraph_hidden(self, paragraph: etree._Element) -> bool:
        """Return whether the style of a paragraph hides its runs."""
        style_id = get_style_id(paragraph)
        return style_id is not None and self.hides_text(style_id) is True

    def is_run_hidden(self, run: etree._Element, *, in_hidden_paragraph: bool) -> bool:
        """Return whether a run is hidden by itself, by its style or by its paragraph's style."""
        properties = run.find(WORD_NAMESPACE + "rPr")
        if properties is None:
            return in_hidden_paragraph
        run_value = get_on_off_value(properties, "vanish")
        if run_value is not None:
            return run_value
        style = get_value(properties, "rStyle")
        style_value = None if style is None else self.hides_text(style)
        return in_hidden_paragraph if style_value is None else style_value


def is_row_hidden(row: etree._Element) -> bool:
    """Return whether a table row is hidden, or was deleted while changes were tracked."""
    properties = row.find(WORD_NAMESPACE + "trPr")
    if properties is None:
        return False
    is_deleted = properties.find(WORD_NAMESPACE + "del") is not None
    return is_deleted or get_on_off_value(properties, "hidden") is True
