"""The styles of a Word document, and the elements that several readers of its XML share."""

from collections.abc import Iterator

from lxml import etree  # type: ignore[import-untyped]

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_VALUE = WORD + "val"
_OFF = {"0", "false", "off"}


def get_value(parent: etree._Element | None, name: str) -> str | None:
    """Return the value of the child `name`, or None if `parent` has no such child or is None."""
    element = None if parent is None else parent.find(WORD + name)
    return None if element is None else element.get(_VALUE)


def get_on_off_value(parent: etree._Element | None, name: str) -> bool | None:
    """Return the value of an on-off property, or None if the element `parent` does not set it."""
    element = None if parent is None else parent.find(WORD + name)
    return None if element is None else is_on(element.get(_VALUE) or "1")


def is_on(value: str) -> bool:
    """Return whether the value of a switch, such as `1` or `false`, turns its property on."""
    return value.lower() not in _OFF


def get_style_name(paragraph: etree._Element) -> str | None:
    """Return the name of the style of a paragraph, or None if it has none of its own."""
    return get_value(paragraph.find(WORD + "pPr"), "pStyle")


class Styles:
    """The styles of a document, by name."""

    def __init__(self, root: etree._Element | None) -> None:
        elements = () if root is None else root.iterchildren(WORD + "style")
        self._by_name = {style.get(WORD + "styleId"): style for style in elements}

    def iterate_bases(self, name: str | None) -> Iterator[etree._Element]:
        """Yield the style `name`, the style that it is based on, and so on."""
        seen: set[str] = set()
        while name is not None and name not in seen and name in self._by_name:
            yield self._by_name[name]
            seen.add(name)
            name = get_value(self._by_name[name], "basedOn")
