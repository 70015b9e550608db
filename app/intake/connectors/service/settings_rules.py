"""The types of connectors that this installation offers, and their settings."""

from collections.abc import Mapping
from typing import Any

from app.engines.sources import TYPES, SourceType
from app.kit import container, errors, typed_settings
from app.kit.typed_settings import Settings

LOCAL = "local"
_FIELD = "settings"


def list_types() -> list[SourceType]:
    """Return the types that this installation offers."""
    return [
        source_type for name, source_type in TYPES.items() if name != LOCAL or _has_local_root()
    ]


def _has_local_root() -> bool:
    return bool(container.settings().connector_local_root)


def check_type(name: str) -> SourceType:
    """Return a type. Raises 400 on `type` if this installation does not offer it."""
    types = {source_type.name: source_type for source_type in list_types()}
    if name not in types:
        message = f"This type is not available. Available types: {', '.join(types)}."
        raise errors.invalid(message, "type", supported=list(types))
    return types[name]


def check_settings(type_name: str, settings: Mapping[str, Any]) -> Settings:
    """Split and validate all settings of a connector. Raises 400 on `settings` or a property."""
    return typed_settings.check_settings(check_type(type_name), settings, field=_FIELD)


def merge_settings(type_name: str, stored: Settings, settings: Mapping[str, Any]) -> Settings:
    """Replace the settings of a connector (see `typed_settings`). Raises 400."""
    return typed_settings.merge_settings(check_type(type_name), stored, settings, field=_FIELD)
