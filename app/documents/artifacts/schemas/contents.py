"""Response schemas for the text and pages of an artifact."""

from app.documents.artifacts.schemas.documents import TEXT_LAYER_METADATA
from app.kit.api.fields import Any_, Bool, Float, Int, List, Nested, Response, Str


class PageSpan(Response):
    """The span of a page in the text, in code points; `end` is exclusive."""

    number = Int()
    start = Int()
    end = Int()


class ArtifactText(Response):
    """The extracted text of an artifact."""

    text = Str()
    length = Int(description="The length of the text in code points.")
    language = Str(allow_none=True)
    has_text_layer = Bool(allow_none=True, metadata=TEXT_LAYER_METADATA)
    pages = List(Nested(PageSpan))


_BOX_SCHEMA = {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4}
_WORDS_SCHEMA = {
    "type": ["array", "null"],
    "description": "`box` is x0, y0, x1, y1 from the top left corner, as fractions of the page"
    " size. Offsets are in code points. A response has at most 8 MiB of words, but always the words"
    " of its first page. On the first page that does not fit and on later pages, `words` is null:"
    " request these pages again with a smaller `page_size`.",
    "items": {
        "type": "object",
        "required": ["text", "box", "start", "end", "origin"],
        "properties": {
            "text": {"type": "string"},
            "box": _BOX_SCHEMA,
            "start": {"type": "integer", "format": "int64"},
            "end": {"type": "integer", "format": "int64"},
            "origin": {
                "type": "string",
                "enum": ["text", "ocr"],
                "description": "`ocr` for words that were recognized in an image.",
            },
            "confidence": {
                "type": "number",
                "minimum": 0,
                "maximum": 1,
                "description": "Only for words with the `origin` `ocr`.",
            },
        },
    },
}


class DocumentPage(Response):
    """A page, with its size in points; `start` and `end` are its span in the text."""

    number = Int()
    width = Float()
    height = Float()
    rotation = Int(description="The clockwise rotation in degrees: 0, 90, 180 or 270.")
    start = Int()
    end = Int()
    # Not nested: the JSON of the words is copied unchanged from PostgreSQL into the response.
    words = Any_(metadata=_WORDS_SCHEMA)
