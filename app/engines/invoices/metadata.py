"""Add metadata to a PDF/A-3 that identifies it as a Factur-X and ZUGFeRD invoice.

typst writes PDF/A metadata (XMP), but cannot add properties. The library factur-x builds the XML
elements for these properties, and this module inserts them into the existing metadata.
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
_PACKET_START = b'<?xpacket begin="\xef\xbb\xbf" id="W5M0MpCehiHzreSzNTczkc9d"?>'
_PACKET_END = b'<?xpacket end="r"?>'
_STARTXREF = b"startxref"
_NAMESPACES = {"rdf": _RDF, "ext": _EXTENSION, "fx": _FX}


def add_metadata(pdf: bytes) -> bytes:
    """Add the Factur-X properties to the metadata of a PDF/A-3, and return the new file.

    The new metadata is appended as an incremental update, which PDF/A permits, so the bytes that
    typst wrote do not change. Writing the file with pypdf would rewrite every object, which takes
    ten times as long as rendering the document.
    """
    # A reader that is not strict would check the position of every object.
    reader = PdfReader(io.BytesIO(pdf), strict=True)
    reference = reader.root_object.raw_get("/Metadata")
    metadata = _insert_properties(reference.get_object().get_data())
    previous_offset = int(pdf[pdf.rindex(_STARTXREF) + len(_STARTXREF) :].split()[0])
    head = f"{reference.idnum} 0 obj\n<< /Type /Metadata /Subtype /XML /Length {len(metadata)} >>"
    trailer = DictionaryObject(reader.trailer) | {
        NameObject("/Prev"): NumberObject(previous_offset)
    }
    out = io.BytesIO()
    out.write(pdf.rstrip() + b"\n")
    object_offset = out.tell()
    out.write(b"%b\nstream\n%b\nendstream\nendobj\n" % (head.encode(), metadata))
    table_offset = out.tell()
    out.write(b"xref\n0 1\n0000000000 65535 f \n")
    out.write(f"{reference.idnum} 1\n{object_offset:010} 00000 n \ntrailer\n".encode())
    DictionaryObject(trailer).write_to_stream(out)
    out.write(b"\n%b\n%d\n%%%%EOF\n" % (_STARTXREF, table_offset))
    return out.getvalue()


def _insert_properties(packet: bytes) -> bytes:
    root = etree.fromstring(packet.replace(b"\xef\xbb\xbf", b""))
    schema, properties = copy.deepcopy(_build_elements())
    bag = root.find(".//ext:schemas/rdf:Bag", _NAMESPACES)
    bag.append(schema)
    bag.getparent().getparent().addnext(properties)
    content: bytes = etree.tostring(root, encoding="utf-8")
    return _PACKET_START + content + _PACKET_END


@functools.cache
def _build_elements() -> tuple[etree._Element, etree._Element]:
    """Build two XMP elements: the schema of the Factur-X properties, and their values."""
    names = ("title", "author", "subject", "producer", "creator_tool", "timestamp")
    xmp = generate_xmp_object(
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
    schema = xmp.find(".//ext:schemas/rdf:Bag/rdf:li", _NAMESPACES)
    return schema, xmp.find(".//fx:DocumentType", _NAMESPACES).getparent()
