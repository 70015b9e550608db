"""A field for properties that only the service sets. Requests may contain them."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields, missing

BOOLEAN: Mapping[str, Any] = {"type": "boolean"}
STRING: Mapping[str, Any] = {"type": "string"}
STRING_ARRAY: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}


class ReadOnly(fields.Field[Any]):
    """A property of a response that a request may contain; its value is ignored.

    A client can therefore read an object, change one of its properties, and send the whole object.
    `schema` is the JSON Schema of the property in the response, for the OpenAPI description.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        text = "Ignored in requests, so that the object can be sent as it was returned."
        super().__init__(metadata={**schema, "readOnly": True, "description": text})

    def deserialize(self, *_: object, **__: object) -> object:
        """Return `missing`, as if the request did not contain the property."""
        return missing
