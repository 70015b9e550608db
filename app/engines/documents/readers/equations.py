"""Write equations of Office files (ECMA-376, 22.1) on one line, such as `x=(-b±√(c))/(2a)`."""

from collections.abc import Callable

from lxml import etree  # type: ignore[import-untyped]

_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_VALUE = _MATH + "val"
EQUATION = _MATH + "oMath"


def format_equation(element: etree._Element) -> str:
    """Return the text of an equation, or of a part of an equation."""
    if element.tag == _MATH + "t":
        return element.text or ""
    format_element = _FORMATS.get(element.tag)
    return format_element(element) if format_element else _format_children(element)


def _format_children(element: etree._Element) -> str:
    return "".join(map(format_equation, element.iterchildren(etree.Element)))


def _format_part(element: etree._Element, name: str) -> str:
    """Return the text of the child `name`, or an empty string if there is none."""
    child = element.find(_MATH + name)
    return "" if child is None else _format_children(child)


def _parenthesize(text: str) -> str:
    """Enclose text in parentheses, unless it is a number or a single character.

    A displayed equation groups its terms by layout; on one line, parentheses must group them.
    """
    return text if text.isdecimal() or len(text) <= 1 else f"({text})"


def _format_fraction(element: etree._Element) -> str:
    numerator, denominator = _format_part(element, "num"), _format_part(element, "den")
    return f"{_parenthesize(numerator)}/{_parenthesize(denominator)}"


def _format_root(element: etree._Element) -> str:
    return f"{_format_part(element, 'deg')}√{_parenthesize(_format_part(element, 'e'))}"


def _format_scripts(element: etree._Element) -> str:
    subscript, superscript = _format_part(element, "sub"), _format_part(element, "sup")
    scripts = (f"_{_parenthesize(subscript)}" if subscript else "") + (
        f"^{_parenthesize(superscript)}" if superscript else ""
    )
    if element.tag == _MATH + "nary":
        scripts = _get_character(element, "naryPr", "chr", "∫") + scripts
        return f"{scripts} {_format_part(element, 'e')}"
    return _format_part(element, "e") + scripts


def _format_delimiters(element: etree._Element) -> str:
    start, end, separator = (
        _get_character(element, "dPr", name, default)
        for name, default in (("begChr", "("), ("endChr", ")"), ("sepChr", "|"))
    )
    terms = (_format_children(term) for term in element.iterchildren(_MATH + "e"))
    return f"{start}{separator.join(terms)}{end}"


def _format_rows(element: etree._Element) -> str:
    separator = " " if element.tag == _MATH + "mr" else "; "
    rows = element.iterchildren(_MATH + "e", _MATH + "mr")
    return separator.join(format_equation(row) for row in rows)


def _get_character(element: etree._Element, properties: str, name: str, default: str) -> str:
    node = element.find(f"{_MATH}{properties}/{_MATH}{name}")
    value: str = default if node is None else node.get(_VALUE, "")
    return value


_FORMATS: dict[str, Callable[[etree._Element], str]] = {
    _MATH + "f": _format_fraction,
    _MATH + "rad": _format_root,
    _MATH + "d": _format_delimiters,
    **dict.fromkeys((_MATH + name for name in ("m", "mr", "eqArr")), _format_rows),
    **dict.fromkeys(
        (_MATH + name for name in ("sSub", "sSup", "sSubSup", "nary")), _format_scripts
    ),
}
