"""A field of nested objects that only the service sets, but that a request may repeat."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields, missing

BOOLEAN: Mapping[str, Any] = {"type": "boolean"}
STRING: Mapping[str, Any] = {"type": "string"}
STRINGS: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}


class ReadOnly(fields.Field[Any]):
    """A property of a response that a request may contain; its value is ignored.

    So a client can read an object, change one of its properties, and send the whole object back.
    `schema` is the JSON Schema of the property in the response, for the OpenAPI description.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        text = "Ignored, so that the object can be sent as it was returned."
        super().__init__(metadata={**schema, "readOnly": True, "description": text})

    def deserialize(self, *_: object, **__: object) -> Any:
        """Return that the request does not contain the property."""
        return missing
