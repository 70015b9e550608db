"""Response schemas of the text and pages of an artifact."""

from app.documents.artifacts.schemas.documents import TEXT_LAYER
from app.kit.api.fields import Any_, Bool, Float, Int, List, Nested, Schema, Str


class PageSpan(Schema):
    """The span of a page in the text, in code points; `end` is exclusive."""

    number = Int(required=True)
    start = Int(required=True)
    end = Int(required=True)


class ArtifactText(Schema):
    """The extracted text of an artifact."""

    text = Str(required=True)
    length = Int(required=True, metadata={"description": "In code points."})
    language = Str(required=True, allow_none=True)
    has_text_layer = Bool(required=True, allow_none=True, metadata=TEXT_LAYER)
    pages = List(Nested(PageSpan), required=True)


_BOX = {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4}
_WORDS = {
    "type": ["array", "null"],
    "description": "`box` is x0, y0, x1, y1 in 0..1 from the top left; offsets are in code points."
    " A response has at most 8 MiB of words, but always those of its first page. From the page on"
    " that does not fit, `words` is null: request these pages again with a smaller page_size.",
    "items": {
        "type": "object",
        "required": ["text", "box", "start", "end"],
        "properties": {
            "text": {"type": "string"},
            "box": _BOX,
            "start": {"type": "integer", "format": "int64"},
            "end": {"type": "integer", "format": "int64"},
        },
    },
}


class DocumentPage(Schema):
    """A page, with its size in points; `start` and `end` are its span in the text."""

    number = Int(required=True)
    width = Float(required=True)
    height = Float(required=True)
    rotation = Int(required=True)
    start = Int(required=True)
    end = Int(required=True)
    # Not nested: the JSON of the words is copied unchanged from PostgreSQL into the response.
    words = Any_(required=True, metadata=_WORDS)
