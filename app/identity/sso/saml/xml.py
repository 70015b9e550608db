"""Safe parsing of untrusted XML.

The documents must be UTF-8 and limited in size. DTDs, entities and processing instructions are
refused.
"""

import re
from datetime import UTC, datetime

from lxml import etree  # type: ignore[import-untyped]

MAX_BYTES = 512 * 1024
MAX_ELEMENTS = 20_000
MAX_DEPTH = 64
MAX_ATTRIBUTES = 100
MAX_NAMESPACES = 100
"""The maximum number of namespaces in scope for one element.

The time that canonicalization takes grows with the square of this number.
"""

_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,12})?(Z|[+-]\d\d:\d\d)")
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class InvalidDocument(Exception):  # noqa: N818 - names what the document is
    """Raised if a document is not valid or not accepted; the message may be shown to users."""


class ResponseRefused(Exception):  # noqa: N818 - names what happened
    """Raised if a response is not accepted.

    The message may be shown to users, because it does not quote the response.
    """


def parse(document: bytes, *, allow_comments: bool = False) -> etree._Element:
    """Parse a document of at most MAX_BYTES bytes, and return its root element.

    If `allow_comments` is true, comments are dropped. Otherwise, a document with a comment or a
    CDATA section is refused, because documents that programs write contain neither.

    Raises `InvalidDocument` if the document is not XML, not UTF-8, too large or too complex, or if
    it contains a DTD, an entity or a processing instruction.
    """
    if len(document) > MAX_BYTES:
        raise InvalidDocument(f"The document is larger than {MAX_BYTES} bytes.")
    try:
        text = document.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidDocument("The document is not in UTF-8.") from None
    _check_markup(text, allow_comments=allow_comments)
    # Create a new parser each time, because threads that share a parser would wait for its lock
    # and share its error log.
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=allow_comments,
    )
    try:
        root = etree.fromstring(text.encode(), parser)
    except (etree.XMLSyntaxError, ValueError):
        raise InvalidDocument("The document is not well-formed XML.") from None
    _check_tree(root)
    return root


def _check_markup(text: str, *, allow_comments: bool) -> None:
    # Check before parsing: the parser expands entities in attributes regardless of its settings.
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InvalidDocument("DTDs and entities are not accepted.")
    if not allow_comments and "<!" in text:
        raise InvalidDocument("Comments and CDATA sections are not accepted.")
    if "<?" in text.removeprefix("<?xml "):
        raise InvalidDocument("Processing instructions are not accepted.")


def _check_tree(root: etree._Element) -> None:
    element_count, depth, namespace_count = 0, 0, 0
    events = ("start", "end", "start-ns", "end-ns", "comment", "pi")
    for event, element in etree.iterwalk(root, events=events):
        if event == "end":
            depth -= 1
            continue
        if event in ("start-ns", "end-ns"):
            namespace_count += 1 if event == "start-ns" else -1
            if namespace_count > MAX_NAMESPACES:
                raise InvalidDocument("An element has too many namespaces in scope.")
            continue
        # `_check_markup` should have refused other nodes already; refuse them again to be safe.
        if event != "start" or not isinstance(element.tag, str):
            message = "Comments, entities and processing instructions are not accepted."
            raise InvalidDocument(message)
        if len(element.attrib) > MAX_ATTRIBUTES:  # Reading them takes quadratic time.
            raise InvalidDocument("An element has too many attributes.")
        element_count, depth = element_count + 1, depth + 1
        if element_count > MAX_ELEMENTS or depth > MAX_DEPTH:
            raise InvalidDocument(
                "The document has too many elements, or they are nested too deeply."
            )


def copy_as_root(element: etree._Element) -> etree._Element:
    """Return a copy of the element as the root of a separate document.

    The copy keeps the namespaces that are in scope for the element.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    return etree.fromstring(etree.tostring(element, with_tail=False), parser)


def build_tag(namespace: str, name: str) -> str:
    """Build a qualified element name in lxml's notation, `{namespace}name`."""
    return f"{{{namespace}}}{name}"


def find_children(element: etree._Element, namespace: str, name: str) -> list[etree._Element]:
    """Return the direct child elements with this qualified name."""
    elements: list[etree._Element] = element.findall(build_tag(namespace, name))
    return elements


def get_only_child(element: etree._Element, namespace: str, name: str) -> etree._Element:
    """Return the only direct child with this qualified name.

    Raises `ResponseRefused` if there is no such child or more than one.
    """
    matches = find_children(element, namespace, name)
    if len(matches) != 1:
        raise ResponseRefused(f"it has {len(matches)} {name} elements instead of one")
    return matches[0]


def read_text(element: etree._Element, limit: int = 1024) -> str | None:
    """Return the element's text without surrounding whitespace.

    Returns None if the element has children, or if the text has control characters or more than
    `limit` characters.
    """
    text = (element.text or "").strip()
    if len(element) or len(text) > limit or _CONTROL_CHARACTER.search(text):
        return None
    return text


def read_time(element: etree._Element, attribute: str) -> datetime | None:
    """Return the xs:dateTime in an attribute as an aware datetime, or None if it is missing.

    Raises `ValueError` if the value is not a valid timestamp or has no time zone.
    """
    value = element.get(attribute)
    if value is None:
        return None
    if not _TIMESTAMP.fullmatch(value):
        raise ValueError(f"{attribute} is not a time with a time zone")
    try:
        return datetime.fromisoformat(value).astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{attribute} is out of range") from None
