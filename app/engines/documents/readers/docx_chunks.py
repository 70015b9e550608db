"""Read the files that a Word document embeds and displays inside its text.

Programs that convert HTML or merge documents embed such files (ECMA-376, 17.17.2.1). Word replaces
them with paragraphs when it saves the document.
"""

from collections.abc import Callable

from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.part import Part, PartFactory

from app.engines.documents import media
from app.engines.documents.readers import html, mail, rich_text
from app.engines.documents.text import decode_text

TextReader = Callable[[bytes], str]

_READERS: dict[str, TextReader] = {
    media.HTML: html.extract_text,
    "application/xhtml+xml": html.extract_text,
    media.MAIL: mail.extract_text,  # a web page as one file (MHTML)
    media.RTF: rich_text.extract_text,
    "text/rtf": rich_text.extract_text,
    media.PLAIN: decode_text,
}
_select_default_part_class = PartFactory.part_class_selector


def _select_part_class(content_type: str, relation_type: str) -> type[Part] | None:
    """Select the class of a part. Embedded files get `Part`, which does not parse them as XML."""
    if relation_type == RELATIONSHIP_TYPE.A_F_CHUNK or _select_default_part_class is None:
        return Part
    return _select_default_part_class(content_type, relation_type)


PartFactory.part_class_selector = _select_part_class


def read_chunks(part: Part, read_document: TextReader) -> dict[str, str]:
    """Return the text of each embedded file of a supported type, keyed by the id of its relation.

    `read_document` reads an embedded Word document. Raises `ParseFailed`.
    """
    word_types = (media.DOCX, CONTENT_TYPE.WML_DOCUMENT_MAIN)
    readers = {**_READERS, **dict.fromkeys(word_types, read_document)}
    return {
        relation.rId: reader(relation.target_part.blob).strip()
        for relation in part.rels.values()
        if relation.reltype == RELATIONSHIP_TYPE.A_F_CHUNK and not relation.is_external
        if (reader := readers.get(relation.target_part.content_type)) is not None
    }
