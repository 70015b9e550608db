"""The rules of a connector's settings, which differ by type."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from app.engines.sources import TYPES, SourceType
from app.kit import container, errors

LOCAL = "local"
# With another one of these, the stored secrets would be sent to another host.
_TARGETS = (
    *("host", "port", "tls", "host_key", "ca_certificate"),
    *("endpoint_url", "account", "url", "urls"),
)
_ENCRYPTED_SCHEMES = ("https://",)


class Settings(NamedTuple):
    """The settings of a connector: those that may be shown, and the secrets."""

    shown: dict[str, Any]
    secrets: dict[str, Any]


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
    source_type = check_type(type_name)
    settings = {name: value for name, value in given.items() if value is not None}
    problem = best_match(Draft202012Validator(source_type.settings_schema).iter_errors(settings))
    if problem is not None:
        field = ".".join(("settings", *_find_path(problem)))
        raise errors.invalid(_describe(problem), field)
    _check_encryption(settings)
    names = source_type.secrets
    return Settings(
        {name: value for name, value in settings.items() if name not in names},
        {name: value for name, value in settings.items() if name in names},
    )


def merge_settings(type_name: str, stored: Settings, given: Mapping[str, Any]) -> Settings:
    """Replace the settings of a connector.

    The stored secrets are kept if `given` has none and names the same host, account and protocol.
    Raises the errors of `check_settings`.
    """
    names = check_type(type_name).secrets
    if names.isdisjoint(given) and stored.secrets:
        moved = next((n for n in _TARGETS if given.get(n) != stored.shown.get(n)), None)
        if moved is not None:
            # Otherwise somebody who cannot read the secrets could have them sent to another host.
            required = ", ".join(f"`{name}`" for name in sorted(stored.secrets))
            message = f"Send {required} again, because `{moved}` changes."
            raise errors.invalid(message, f"settings.{min(stored.secrets)}")
        given = {**given, **stored.secrets}
    return check_settings(type_name, given)


def encrypt_secrets(secrets: Mapping[str, Any]) -> str | None:
    """Return the token of a JSON object of secrets; None if there are none."""
    return container.keyring().encrypt(json.dumps(secrets)) if secrets else None


def decrypt_secrets(token: str | None) -> dict[str, Any]:
    """Return the secrets of a token of `encrypt_secrets`."""
    if token is None:
        return {}
    secrets: dict[str, Any] = json.loads(container.keyring().decrypt(token))
    return secrets


def _check_encryption(settings: Mapping[str, Any]) -> None:
    """Refuse protocols that send documents and credentials readable by anybody on the way."""
    if container.settings().connector_allow_unencrypted:
        return
    if settings.get("tls") is False:
        raise errors.invalid("This installation accepts only TLS.", "settings.tls")
    for name in ("endpoint_url", "url", "urls"):
        values = settings.get(name, ())
        for value in (values,) if isinstance(values, str) else values:
            if not value.startswith(_ENCRYPTED_SCHEMES):
                raise errors.invalid("This installation accepts only https.", f"settings.{name}")


def _find_path(problem: ValidationError) -> Iterator[str]:
    yield from (str(part) for part in problem.absolute_path)
    rule: Any = problem.validator_value
    given: Any = problem.instance
    schema: Any = problem.schema
    match problem.validator:
        case "required":
            yield next(name for name in rule if name not in given)
        case "additionalProperties":
            yield next(name for name in given if name not in schema["properties"])
        case "dependentRequired":
            needed = (other for name in rule if name in given for other in rule[name])
            yield next(name for name in needed if name not in given)


_MESSAGES = {
    "required": "Missing setting.",
    "dependentRequired": "Missing setting.",
    "additionalProperties": "Unknown setting.",
    "type": "Must be of the type {rule}.",
    "minLength": "Shorter than the minimum length {rule}.",
    "minItems": "Shorter than the minimum length {rule}.",
    "maxLength": "Longer than the maximum length {rule}.",
    "maxItems": "Longer than the maximum length {rule}.",
    "minimum": "Must be at least {rule}.",
    "maximum": "Must be at most {rule}.",
    "uniqueItems": "Must not contain duplicates.",
    "pattern": "Does not have the format that the type's schema describes.",
    "oneOf": "Exactly one of these is needed: {names}.",
    "not": "Only one of these is possible: {names}.",
}
"""Messages by keywords of JSON Schema. The library's own messages would repeat secrets."""
_OTHER = "Does not fit the schema of the type's settings."


def _describe(problem: ValidationError) -> str:
    rule: Any = problem.validator_value
    groups = {"oneOf": rule, "not": [rule]}.get(str(problem.validator), [])
    names = ", ".join(f"`{name}`" for group in groups for name in group["required"])
    return _MESSAGES.get(str(problem.validator), _OTHER).format(rule=rule, names=names)
