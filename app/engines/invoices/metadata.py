"""Add the metadata by which programs recognize Factur-X and ZUGFeRD to a PDF/A-3.

typst writes the metadata of PDF/A (XMP), but has no way to add properties. The elements are those
that the library factur-x builds, inserted into the metadata that is there.
"""

import copy
import functools
import io

from facturx.facturx import FACTURX_FILENAME, generate_xmp_object
from lxml import etree  # type: ignore[import-untyped]
from pypdf import PdfReader
from pypdf.generic import DictionaryObject, NameObject, NumberObject

_FX = "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_EXTENSION = "http://www.aiim.org/pdfa/ns/extension/"
_HEAD = b'<?xpacket begin="\xef\xbb\xbf" id="W5M0MpCehiHzreSzNTczkc9d"?>'
_TAIL = b'<?xpacket end="r"?>'
_START = b"startxref"
_NAMES = {"rdf": _RDF, "ext": _EXTENSION, "fx": _FX}


def add_metadata(pdf: bytes) -> bytes:
    """Return a PDF/A-3 with the properties of Factur-X in its metadata.

    The new metadata is appended as an incremental update, which PDF/A permits: the bytes of typst
    stay as they are. pypdf would read and write every object, which takes ten times as long as
    the rest of an invoice.
    """
    reader = PdfReader(io.BytesIO(pdf))
    reference = reader.root_object.raw_get("/Metadata")
    metadata = _insert_properties(reference.get_object().get_data())
    previous = int(pdf[pdf.rindex(_START) + len(_START) :].split()[0])
    head = f"{reference.idnum} 0 obj\n<< /Type /Metadata /Subtype /XML /Length {len(metadata)} >>"
    trailer = DictionaryObject(reader.trailer) | {NameObject("/Prev"): NumberObject(previous)}
    out = io.BytesIO()
    out.write(pdf.rstrip() + b"\n")
    place = out.tell()
    out.write(b"%b\nstream\n%b\nendstream\nendobj\n" % (head.encode(), metadata))
    table = out.tell()
    out.write(b"xref\n0 1\n0000000000 65535 f \n")
    out.write(f"{reference.idnum} 1\n{place:010} 00000 n \ntrailer\n".encode())
    DictionaryObject(trailer).write_to_stream(out)
    out.write(b"\n%b\n%d\n%%%%EOF\n" % (_START, table))
    return out.getvalue()


def _insert_properties(packet: bytes) -> bytes:
    root = etree.fromstring(packet.replace(b"\xef\xbb\xbf", b""))
    schema, properties = copy.deepcopy(_build_elements())
    bag = root.find(".//ext:schemas/rdf:Bag", _NAMES)
    bag.append(schema)
    bag.getparent().getparent().addnext(properties)
    content: bytes = etree.tostring(root, encoding="utf-8")
    return _HEAD + content + _TAIL


@functools.cache
def _build_elements() -> tuple[etree._Element, etree._Element]:
    """Return the description of the properties of Factur-X, and the properties."""
    names = ("title", "author", "subject", "producer", "creator_tool", "timestamp")
    built = generate_xmp_object(
        {
            **dict.fromkeys(names, ""),
            "pdfa3_flavor": "B",
            "urn": _FX,
            "documenttype": "INVOICE",
            "xml_filename": FACTURX_FILENAME,
            "version": "1.0",
            "xmp_level": "EN 16931",
        }
    )
    schema = built.find(".//ext:schemas/rdf:Bag/rdf:li", _NAMES)
    return schema, built.find(".//fx:DocumentType", _NAMES).getparent()
