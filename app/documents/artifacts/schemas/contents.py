"""Response schemas of the text and pages of an artifact."""

from app.documents.artifacts.schemas.documents import TEXT_LAYER
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
    has_text_layer = Bool(allow_none=True, metadata=TEXT_LAYER)
    pages = List(Nested(PageSpan))


_BOX = {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4}
_WORDS = {
    "type": ["array", "null"],
    "description": "`box` is x0, y0, x1, y1 in 0..1 from the top left; offsets are in code points."
    " A response has at most 8 MiB of words, but always the words of its first page. From the first"
    " page that does not fit, `words` is null: request these pages again with a smaller page_size.",
    "items": {
        "type": "object",
        "required": ["text", "box", "start", "end", "origin"],
        "properties": {
            "text": {"type": "string"},
            "box": _BOX,
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
    rotation = Int()
    start = Int()
    end = Int()
    # Not nested: the JSON of the words is copied unchanged from PostgreSQL into the response.
    words = Any_(metadata=_WORDS)
