"""Request and response schemas of schema templates."""

from app.engines.fields.definition import MAX_FIELDS
from app.kit.api.fields import Int, List, Name, Nested, OneOf, Response, Schema, Str
from app.schemas.artifact_schemas.schemas import SchemaField
from app.schemas.templates.catalog import INDUSTRIES


class TemplateFilters(Schema):
    """Filters for the list of templates. `q` searches the name and the document type."""

    industry = Str(validate=OneOf(INDUSTRIES))
    document_type = Str(max_length=100)
    q = Str(max_length=200, description="A part of the name or document type, in any case.")


class InstantiateTemplate(Schema):
    """Values that override the template; null keeps the template's value.

    `fields` lists the keys of the fields to use. If it is null, all fields are used.
    """

    name = Name(allow_none=True, load_default=None)
    document_type = Name(max_length=100, allow_none=True, load_default=None)
    fields = List(Str(max_length=64), max_items=MAX_FIELDS, allow_none=True, load_default=None)


class SchemaTemplate(Response):
    """A schema template in a list, without its fields."""

    id = Str()
    name = Str()
    industry = Str(validate=OneOf(INDUSTRIES))
    document_type = Str()
    description = Str()
    field_count = Int()


class SchemaTemplateDetail(SchemaTemplate):
    """A schema template with its fields, and its guidelines in Markdown."""

    guidelines = Str()
    fields = List(Nested(SchemaField))
