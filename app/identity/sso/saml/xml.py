"""XML from strangers: bounded, in UTF-8, without document types, entities and instructions."""

import re
from datetime import UTC, datetime

from lxml import etree  # type: ignore[import-untyped]

MAX_BYTES = 512 * 1024
MAX_ELEMENTS = 20_000
MAX_DEPTH = 64
MAX_ATTRIBUTES = 100
MAX_NAMESPACES = 100
"""In scope of one element. Canonical forms take quadratic time in them."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,12})?(Z|[+-]\d\d:\d\d)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Malformed(Exception):  # noqa: N818 - names what the document is
    """The bytes are not a document that is read here; `reason` may be told."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def parse(document: bytes, *, comments: bool = False) -> etree._Element:
    """The root of a document of at most MAX_BYTES bytes.

    :param comments: comments are dropped; else a document that has one is refused, as it is then
        read by a program that a person did not write.
    :raises Malformed: no XML, not in UTF-8, too large or deep, or with a document type, an entity,
        a processing instruction or, unless dropped, a comment or CDATA section.
    """
    if len(document) > MAX_BYTES:
        raise Malformed(f"The document is larger than {MAX_BYTES} bytes.")
    try:
        text = document.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Malformed("The document is not in UTF-8.") from None
    _check_markup(text, comments=comments)
    # The parser of its own is not shared: lxml's parsers hold a lock and an error log.
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=comments,
    )
    try:
        root = etree.fromstring(text.encode(), parser)
    except (etree.XMLSyntaxError, ValueError):
        raise Malformed("The document is not well-formed XML.") from None
    _check_tree(root)
    return root


def _check_markup(text: str, *, comments: bool) -> None:
    # Before the parser: an entity in an attribute's value is expanded whatever the parser is told.
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise Malformed("Document types and entities are not accepted.")
    if not comments and "<!" in text:
        raise Malformed("Comments and CDATA sections are not accepted.")
    if "<?" in text.removeprefix("<?xml "):
        raise Malformed("Processing instructions are not accepted.")


def _check_tree(root: etree._Element) -> None:
    count, depth, scope = 0, 0, 0
    events = ("start", "end", "start-ns", "end-ns", "comment", "pi")
    for event, element in etree.iterwalk(root, events=events):
        if event == "end":
            depth -= 1
            continue
        if event in ("start-ns", "end-ns"):
            scope += 1 if event == "start-ns" else -1
            if scope > MAX_NAMESPACES:
                raise Malformed("An element has too many namespaces in scope.")
            continue
        # What the look at the text missed: nothing known, and refused all the same.
        if event != "start" or not isinstance(element.tag, str):
            raise Malformed("Comments, entities and instructions are not accepted.")
        if len(element.attrib) > MAX_ATTRIBUTES:  # Reading them is quadratic, and it is done often.
            raise Malformed("An element has too many attributes.")
        count, depth = count + 1, depth + 1
        if count > MAX_ELEMENTS or depth > MAX_DEPTH:
            raise Malformed("The document has too many elements, or they are nested too deeply.")


def detached(element: etree._Element) -> etree._Element:
    """A copy that is the root of a document of its own; it keeps the namespaces in scope."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    return etree.fromstring(etree.tostring(element, with_tail=False), parser)


def tag(namespace: str, name: str) -> str:
    """The name as lxml has it."""
    return f"{{{namespace}}}{name}"


def children(element: etree._Element, namespace: str, name: str) -> list[etree._Element]:
    """The direct children of that name."""
    found: list[etree._Element] = element.findall(tag(namespace, name))
    return found


def text_of(element: etree._Element, limit: int = 1024) -> str | None:
    """The element's text, stripped; None when it has children, control characters, or too much."""
    text = (element.text or "").strip()
    if len(element) or len(text) > limit or _CONTROL.search(text):
        return None
    return text


def time_of(element: etree._Element, attribute: str) -> datetime | None:
    """The xs:dateTime in an attribute, aware; None when there is none.

    :raises ValueError: there is one that is no time, or without a zone.
    """
    found = element.get(attribute)
    if found is None:
        return None
    if not _TIME.fullmatch(found):
        raise ValueError(f"{attribute} is no time with a zone")
    try:
        return datetime.fromisoformat(found).astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{attribute} is out of range") from None
