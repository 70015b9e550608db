"""Settings that follow a JSON Schema, whose secrets are stored encrypted.

Connectors and the destinations of exports have such settings.
"""

import json
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple, Protocol

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from app.kit import container, errors

# With another one of these, the stored secrets would be sent to another host.
_TARGETS = (
    *("host", "port", "tls", "host_key", "ca_certificate"),
    *("endpoint_url", "account", "url", "urls"),
)
_ENCRYPTED_SCHEMES = ("https://",)


class SettingsType(Protocol):
    """What a type of connector or destination tells about its settings."""

    @property
    def settings_schema(self) -> Mapping[str, Any]:
        """The JSON Schema of all settings."""

    @property
    def secrets(self) -> AbstractSet[str]:
        """The names of the secrets."""


class Settings(NamedTuple):
    """Settings: those that may be shown, and the secrets."""

    shown: dict[str, Any]
    secrets: dict[str, Any]


def check_settings(
    settings_type: SettingsType, given: Mapping[str, Any], *, field: str
) -> Settings:
    """Split and validate settings. Raises 400 on `field` or a member of it."""
    settings = {name: value for name, value in given.items() if value is not None}
    problem = best_match(Draft202012Validator(settings_type.settings_schema).iter_errors(settings))
    if problem is not None:
        raise errors.invalid(_describe(problem), ".".join((field, *_find_path(problem))))
    _check_encryption(settings, field)
    names = settings_type.secrets
    return Settings(
        {name: value for name, value in settings.items() if name not in names},
        {name: value for name, value in settings.items() if name in names},
    )


def merge_settings(
    settings_type: SettingsType, stored: Settings, given: Mapping[str, Any], *, field: str
) -> Settings:
    """Replace settings.

    The stored secrets are kept if `given` has none and names the same host, account and protocol.
    Raises the errors of `check_settings`.
    """
    if settings_type.secrets.isdisjoint(given) and stored.secrets:
        moved = next((n for n in _TARGETS if given.get(n) != stored.shown.get(n)), None)
        if moved is not None:
            # Otherwise somebody who cannot read the secrets could have them sent to another host.
            required = ", ".join(f"`{name}`" for name in sorted(stored.secrets))
            message = f"Send {required} again, because `{moved}` changes."
            raise errors.invalid(message, f"{field}.{min(stored.secrets)}")
        given = {**given, **stored.secrets}
    return check_settings(settings_type, given, field=field)


def encrypt_secrets(secrets: Mapping[str, Any]) -> str | None:
    """Return the token of a JSON object of secrets; None if there are none."""
    return container.keyring().encrypt(json.dumps(secrets)) if secrets else None


def decrypt_secrets(token: str | None) -> dict[str, Any]:
    """Return the secrets of a token of `encrypt_secrets`."""
    if token is None:
        return {}
    secrets: dict[str, Any] = json.loads(container.keyring().decrypt(token))
    return secrets


def _check_encryption(settings: Mapping[str, Any], field: str) -> None:
    """Refuse protocols that send documents and credentials readable by anybody on the way."""
    if container.settings().connector_allow_unencrypted:
        return
    if settings.get("tls") is False:
        raise errors.invalid("This installation accepts only TLS.", f"{field}.tls")
    for name in ("endpoint_url", "url", "urls"):
        values = settings.get(name, ())
        for value in (values,) if isinstance(values, str) else values:
            if not value.startswith(_ENCRYPTED_SCHEMES):
                raise errors.invalid("This installation accepts only https.", f"{field}.{name}")


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
