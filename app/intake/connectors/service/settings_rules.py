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
    return [found for name, found in TYPES.items() if name != LOCAL or _has_local_root()]


def _has_local_root() -> bool:
    return bool(container.settings().connector_local_root)


def check_type(name: str) -> SourceType:
    """Return a type. Raises 400 on `type` if this installation does not offer it."""
    offered = {found.name: found for found in list_types()}
    if name not in offered:
        message = f"This type is not available. Available are: {', '.join(offered)}."
        raise errors.invalid(message, "type", supported=list(offered))
    return offered[name]


def check_settings(type_name: str, given: Mapping[str, Any]) -> Settings:
    """Split and validate all settings of a connector. Raises 400 on `settings` or a member."""
    return typed_settings.check_settings(check_type(type_name), given, field=_FIELD)


def merge_settings(type_name: str, stored: Settings, given: Mapping[str, Any]) -> Settings:
    """Replace the settings of a connector, see `typed_settings`. Raises 400."""
    return typed_settings.merge_settings(check_type(type_name), stored, given, field=_FIELD)
