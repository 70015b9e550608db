"""The connector types that this installation offers, and validation of their settings."""

from collections.abc import Mapping
from typing import Any

from app.engines.sources import TYPES, SourceType
from app.kit import container, errors, typed_settings
from app.kit.typed_settings import ValidatedSettings

LOCAL = "local"
_FIELD = "settings"


def list_types() -> list[SourceType]:
    """Return the connector types that this installation offers.

    The type `local` is offered only if the operator has configured a folder.
    """
    return [
        source_type for name, source_type in TYPES.items() if name != LOCAL or _has_local_root()
    ]


def _has_local_root() -> bool:
    return bool(container.settings().connector_local_root)


def check_type(name: str) -> SourceType:
    """Check that a connector type is offered, and return it. Raises 400 if it is not offered."""
    types = {source_type.name: source_type for source_type in list_types()}
    if name not in types:
        message = f"This type is not available. Available types: {', '.join(types)}."
        raise errors.invalid(message, "type", supported=list(types))
    return types[name]


def check_settings(type_name: str, settings: Mapping[str, Any]) -> ValidatedSettings:
    """Validate a connector's settings, and return them split into public settings and secrets.

    Raises 400 if `settings` or one of its properties is invalid.
    """
    return typed_settings.check_settings(check_type(type_name), settings, field=_FIELD)


def merge_settings(
    type_name: str, stored: ValidatedSettings, new_settings: Mapping[str, Any]
) -> ValidatedSettings:
    """Merge new settings with the stored secrets; see `typed_settings.merge_settings`."""
    return typed_settings.merge_settings(check_type(type_name), stored, new_settings, field=_FIELD)
