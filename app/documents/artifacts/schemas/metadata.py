"""Fields for the metadata of an artifact."""

from typing import Any

from marshmallow import ValidationError, fields

from app.documents.artifacts.property_rules import (
    MAX_METADATA_KEY_LENGTH,
    MAX_METADATA_KEYS,
    MAX_METADATA_VALUE_LENGTH,
    InexactNumberError,
    InvalidMetadataError,
    check_metadata,
)
from app.kit import errors
from app.kit.api import strict_json
from app.kit.api.fields import Data, JsonObject, check_text
from app.kit.api.strict_json import MAX_SAFE_INT

METADATA_SCHEMA = {
    "description": "An object of strings, numbers and booleans;"
    f" keys have 1 to {MAX_METADATA_KEY_LENGTH} characters.",
    "maxProperties": MAX_METADATA_KEYS,
    "additionalProperties": {
        "type": ["string", "number", "boolean"],
        "maxLength": MAX_METADATA_VALUE_LENGTH,
        "minimum": -MAX_SAFE_INT,
        "maximum": MAX_SAFE_INT,
    },
    "propertyNames": {"minLength": 1, "maxLength": MAX_METADATA_KEY_LENGTH},
}
METADATA_TEXT_SCHEMA = {
    **METADATA_SCHEMA,
    "type": "object",
    "description": "The JSON text of an object of strings, numbers and booleans;"
    f" keys have 1 to {MAX_METADATA_KEY_LENGTH} characters.",
}


def _check_metadata(value: dict[Any, Any]) -> dict[str, Any]:
    for text in (*value, *value.values()):
        if isinstance(text, str):
            check_text(text)
    try:
        return check_metadata(value)
    except InexactNumberError as error:
        raise errors.invalid(str(error), f"metadata.{error.key}") from None
    except InvalidMetadataError as error:
        raise ValidationError({error.key: [str(error)]}) from None
    except ValueError as error:
        raise ValidationError(str(error)) from None


class Metadata(JsonObject):
    """Metadata: a JSON object of strings, numbers and booleans."""

    def _deserialize(self, value: object, *_: object, **__: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.make_error("invalid")
        return _check_metadata(value)


class MetadataText(fields.String):
    """Metadata in a form field, as JSON text."""

    def _deserialize(self, value: object, attr: str | None, data: Data, **options: object) -> Any:
        text = super()._deserialize(value, attr, data, **options)
        try:
            parsed = strict_json.parse(text, self.name)
        except (strict_json.MalformedError, strict_json.NestedTooDeeplyError):
            parsed = None
        if not isinstance(parsed, dict):
            raise ValidationError("Must be a JSON object, sent as text.")
        return _check_metadata(parsed)
