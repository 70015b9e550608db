"""Read the styles of a Word document, and the values of its XML elements."""

from collections.abc import Iterator

from lxml import etree  # type: ignore[import-untyped]

WORD_NAMESPACE = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_VALUE = WORD_NAMESPACE + "val"
_OFF_VALUES = {"0", "false", "off"}


def get_value(parent: etree._Element | None, name: str) -> str | None:
    """Return the value of the child `name`, or None if `parent` is None or has no such child."""
    element = None if parent is None else parent.find(WORD_NAMESPACE + name)
    return None if element is None else element.get(_VALUE)


def get_on_off_value(parent: etree._Element | None, name: str) -> bool | None:
    """Return the value of the on-off property `name`, or None if `parent` does not set it."""
    element = None if parent is None else parent.find(WORD_NAMESPACE + name)
    return None if element is None else is_on(element.get(_VALUE) or "1")


def is_on(value: str) -> bool:
    """Return whether the value of an on-off property is other than `0`, `false` and `off`."""
    return value.lower() not in _OFF_VALUES


def get_style_id(paragraph: etree._Element) -> str | None:
    """Return the id of the style that a paragraph specifies, or None if it specifies no style."""
    return get_value(paragraph.find(WORD_NAMESPACE + "pPr"), "pStyle")


class Styles:
    """The styles of a document, by id."""

    def __init__(self, root: etree._Element | None) -> None:
        elements = () if root is None else root.iterchildren(WORD_NAMESPACE + "style")
        self._by_id = {style.get(WORD_NAMESPACE + "styleId"): style for style in elements}

    def iterate_style_and_bases(self, style_id: str | None) -> Iterator[etree._Element]:
        """Yield a style, its base style, and so on; stop at a style that is unknown or repeated."""
        seen_ids: set[str] = set()
        while style_id is not None and style_id not in seen_ids and style_id in self._by_id:
            style = self._by_id[style_id]
            yield style
            seen_ids.add(style_id)
            style_id = get_value(style, "basedOn")
