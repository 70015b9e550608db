"""Settings for connectors and export destinations.

A JSON Schema for each type validates the settings. Secrets are stored encrypted.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple, Protocol

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.validators import extend

from app.kit import container, errors, url_queries
from app.kit.secrets import DecryptionFailed

# If one of these settings changes, the stored secrets would be sent to another host or account.
_TARGET_NAMES = (
    *("host", "port", "tls", "host_key", "ca_certificate"),
    *("endpoint_url", "account", "url", "urls"),
)
_ENCRYPTED_SCHEMES = ("https://",)


class SettingsType(Protocol):
    """A type of connector or export destination, which describes the settings of its instances."""

    @property
    def settings_schema(self) -> Mapping[str, Any]:
        """Return the JSON Schema of all settings."""

    @property
    def secret_names(self) -> AbstractSet[str]:
        """Return the names of the settings that are secrets."""

    @property
    def find_problem(self) -> Callable[[Mapping[str, Any]], tuple[str, str] | None]:
        """Return the function that finds a problem which the schema cannot describe.

        The function returns the name of the invalid setting and a message, or None.
        """


class ValidatedSettings(NamedTuple):
    """Validated settings. The secrets are separate from the settings that users may see."""

    public: dict[str, Any]
    secrets: dict[str, Any]


def check_settings(
    settings_type: SettingsType, new_settings: Mapping[str, Any], *, field: str
) -> ValidatedSettings:
    """Validate settings, and separate the secrets. Settings that are None are left out.

    Raises 400 for `field` or one of its properties if the settings are invalid.
    """
    settings = {name: value for name, value in new_settings.items() if value is not None}
    problem = best_match(_Validator(settings_type.settings_schema).iter_errors(settings))
    if problem is not None:
        raise errors.invalid(_describe(problem), ".".join((field, *_list_path_parts(problem))))
    _check_encryption(settings, field)
    if setting_problem := settings_type.find_problem(settings):
        name, message = setting_problem
        raise errors.invalid(message, f"{field}.{name}")
    secret_names = settings_type.secret_names
    return ValidatedSettings(
        {name: _to_integer(value) for name, value in settings.items() if name not in secret_names},
        {name: value for name, value in settings.items() if name in secret_names},
    )


def merge_settings(
    settings_type: SettingsType,
    stored: ValidatedSettings,
    new_settings: Mapping[str, Any],
    *,
    field: str,
) -> ValidatedSettings:
    """Merge new settings with the stored secrets, validate them, and return them.

    If `new_settings` contains no secrets, the stored secrets are kept. The settings that identify
    the host or the account must then be the same as before. A URL without a query keeps the stored
    query if it is otherwise the same. Raises 400 for `field` or one of its properties if the
    settings are invalid, or if the secrets must be sent again.
    """
    new_settings = url_queries.restore_queries(new_settings, stored.public, field=field)
    if settings_type.secret_names.isdisjoint(new_settings) and stored.secrets:
        changed_name = next(
            (name for name in _TARGET_NAMES if new_settings.get(name) != stored.public.get(name)),
            None,
        )
        if changed_name is not None:
            # Otherwise, somebody who cannot read the secrets could have them sent to another host.
            required = ", ".join(f"`{name}`" for name in sorted(stored.secrets))
            message = f"Send {required} again, because `{changed_name}` changes."
            raise errors.invalid(message, f"{field}.{min(stored.secrets)}")
        new_settings = {**new_settings, **stored.secrets}
    return check_settings(settings_type, new_settings, field=field)


def encrypt_secrets(secrets: Mapping[str, Any]) -> str | None:
    """Encrypt the secrets as a JSON object. Returns None if there are no secrets."""
    return container.keyring().encrypt(json.dumps(secrets)) if secrets else None


def decrypt_secrets(token: str | None) -> dict[str, Any]:
    """Decrypt the secrets that `encrypt_secrets` encrypted. Returns {} if `token` is None.

    Raises DecryptionFailed if no configured key can decrypt `token`.
    """
    if token is None:
        return {}
    secrets: dict[str, Any] = json.loads(container.keyring().decrypt(token))
    return secrets


def read_secrets(token: str | None) -> dict[str, Any]:
    """Decrypt stored secrets. Returns {} if they cannot be decrypted.

    The client must then send the secrets again, as if none were stored.
    """
    try:
        return decrypt_secrets(token)
    except DecryptionFailed:
        return {}


def _to_integer(value: object) -> object:
    """Convert a number such as 22.0, which is an integer in JSON, to an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _check_encryption(settings: Mapping[str, Any], field: str) -> None:
    """Raise 400 if settings use an unencrypted protocol that this installation does not allow."""
    if container.settings().connector_allow_unencrypted:
        return
    if settings.get("tls") is False:
        raise errors.invalid("This installation requires TLS.", f"{field}.tls")
    for name in ("endpoint_url", "url", "urls"):
        values = settings.get(name, ())
        for value in (values,) if isinstance(values, str) else values:
            if not value.startswith(_ENCRYPTED_SCHEMES):
                message = "This installation accepts only https URLs."
                raise errors.invalid(message, f"{field}.{name}")


def _check_pattern(
    _validator: object, pattern: str, value: object, _schema: object
) -> Iterator[ValidationError]:
    """Check a value against the keyword `pattern`, in which `$` matches only at the end of a text.

    In `re`, `$` also matches before a final line break, and a line break ends protocol commands.
    """
    expression = pattern.removesuffix("$") + r"\Z" if pattern.endswith("$") else pattern
    if isinstance(value, str) and re.search(expression, value) is None:
        yield ValidationError("The pattern does not match.")


_Validator = extend(Draft202012Validator, {"pattern": _check_pattern})  # type: ignore[no-untyped-call]


def _list_path_parts(problem: ValidationError) -> Iterator[str]:
    """Yield the parts of the path to the setting that is invalid, missing or unknown."""
    yield from (str(part) for part in problem.absolute_path)
    match problem.validator, problem.validator_value, problem.instance, problem.schema:
        case "required", [*names], dict(settings), _:
            yield next(name for name in names if name not in settings)
        case "additionalProperties", _, dict(settings), {"properties": properties}:
            yield next(name for name in settings if name not in properties)
        case "dependentRequired", dict(rule), dict(settings), _:
            dependent_names = (
                dependent_name for name in rule if name in settings for dependent_name in rule[name]
            )
            yield next(name for name in dependent_names if name not in settings)


_MESSAGES = {
    "required": "This setting is required.",
    "dependentRequired": "This setting is required.",
    "additionalProperties": "Unknown setting.",
    "type": "Must be of the type {rule}.",
    "minLength": "The minimum length is {rule}.",
    "minItems": "The minimum length is {rule}.",
    "maxLength": "The maximum length is {rule}.",
    "maxItems": "The maximum length is {rule}.",
    "minimum": "Must be at least {rule}.",
    "maximum": "Must be at most {rule}.",
    "uniqueItems": "Must not contain duplicates.",
    "pattern": "Does not match the pattern in the schema of this type.",
    "oneOf": "Exactly one of these settings is required: {names}.",
    "not": "Only one of these settings is allowed: {names}.",
}
"""Messages by JSON Schema keyword. The library's messages would contain secrets."""
_DEFAULT_MESSAGE = "Does not match the schema of this type."


def _describe(problem: ValidationError) -> str:
    names = ", ".join(
        f"`{name}`" for group in _list_alternatives(problem) for name in group["required"]
    )
    message = _MESSAGES.get(str(problem.validator), _DEFAULT_MESSAGE)
    return message.format(rule=problem.validator_value, names=names)


def _list_alternatives(problem: ValidationError) -> Sequence[Mapping[str, Sequence[str]]]:
    """Return the schemas in a violated `oneOf` or `not`, or an empty list for other keywords."""
    match problem.validator, problem.validator_value:
        case "oneOf", [*schemas]:
            return schemas
        case "not", dict(schema):
            return [schema]
    return []
