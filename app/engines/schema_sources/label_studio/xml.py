"""Parse untrusted XML of limited size, without DTDs, entities or external references."""

from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml.common import DefusedXmlException  # type: ignore[import-untyped]
from defusedxml.ElementTree import DefusedXMLParser  # type: ignore[import-untyped]

from app.engines.schema_sources.finishing import check_text
from app.engines.schema_sources.model import SchemaSourceError

MAX_DEPTH = 64
MAX_ELEMENTS = 20_000
MAX_ATTRIBUTES = 100


class _LimitedTreeBuilder(TreeBuilder):
    """A tree builder that limits the depth and the numbers of elements and attributes."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0
        self._element_count = 0

    def start(self, tag: str, attrs: dict[str, str]) -> Element:
        """Open an element. Raises SchemaSourceError if a limit is exceeded."""
        self._depth += 1
        self._element_count += 1
        if self._depth > MAX_DEPTH:
            raise SchemaSourceError("", f"is nested more than {MAX_DEPTH} levels deep")
        if self._element_count > MAX_ELEMENTS:
            raise SchemaSourceError("", f"has more than {MAX_ELEMENTS:,} elements")
        if len(attrs) > MAX_ATTRIBUTES:
            raise SchemaSourceError(
                "", f"has an element with more than {MAX_ATTRIBUTES} attributes"
            )
        return super().start(tag, attrs)

    def end(self, tag: str) -> Element:
        """Close an element."""
        self._depth -= 1
        return super().end(tag)


def parse_xml(text: str) -> Element:
    """Parse XML, and return the root element.

    Raises SchemaSourceError if the XML is malformed, exceeds a limit, or has a DTD, a NUL or an
    unpaired surrogate.
    """
    check_text(text)
    parser = DefusedXMLParser(
        target=_LimitedTreeBuilder(), forbid_dtd=True, forbid_entities=True, forbid_external=True
    )
    try:
        parser.feed(text.strip())
        root: Element = parser.close()
    except DefusedXmlException:
        raise SchemaSourceError("", "has a DTD or entities, which are not accepted") from None
    except ParseError as error:
        line, column = error.position
        raise SchemaSourceError(
            "", f"is not well-formed XML (line {line}, column {column + 1})"
        ) from None
    return root
