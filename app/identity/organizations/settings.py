"""Settings of an organization: validation, defaults, and the form returned to clients."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from app.kit import container, errors, locales
from app.kit.egress.policy import EgressRefused

DEFAULTS: Mapping[str, Any] = {
    "locale": "en",
    "time_zone": "UTC",
    "retention_days": None,
    "claim_minutes": 30,
    "draft_hours": 24,
    "allow_self_review": False,
}
_BUILTIN_PROVIDER: Mapping[str, Any] = {"kind": "builtin", "base_url": None, "model": None}
_RANGES = {"retention_days": (1, 36_500), "claim_minutes": (1, 1440), "draft_hours": (1, 8760)}


def render(stored: Mapping[str, Any], provider_key: str | None) -> dict[str, Any]:
    """Return all settings with defaults, and whether the AI provider's key is set."""
    provider = {
        **_BUILTIN_PROVIDER,
        **stored.get("ai_provider", {}),
        "api_key_set": bool(provider_key),
    }
    return {**DEFAULTS, **stored, "ai_provider": provider}


def merge(
    stored: Mapping[str, Any], provider_key: str | None, changes: Mapping[str, Any]
) -> tuple[dict[str, Any], str | None]:
    """Return the settings and the encrypted key to store after `changes` are applied to `stored`.

    `changes` has the form that clients send, including `ai_provider.api_key`. Settings that are not
    in `changes` keep their values. Raises 400 `validation_error` on an invalid setting. Call
    `check_address` first: this function does not check the address of `base_url`.
    """
    merged = {**stored, **{k: v for k, v in changes.items() if k != "ai_provider"}}
    for name in changes:
        _validate(merged, name)
    if "ai_provider" in changes:
        merged["ai_provider"], provider_key = _merge_provider(
            stored.get("ai_provider", {}), provider_key, changes["ai_provider"]
        )
    return merged, provider_key


def _validate(settings: dict[str, Any], name: str) -> None:
    field = f"settings.{name}"
    if name == "locale":
        settings[name] = locales.check_locale(settings[name], field)
    elif name == "time_zone":
        settings[name] = locales.check_time_zone(settings[name], field)
    elif name in _RANGES and settings[name] is not None:
        minimum, maximum = _RANGES[name]
        if not minimum <= settings[name] <= maximum:
            raise errors.invalid(f"Must be between {minimum} and {maximum}.", field)


def _merge_provider(
    stored: Mapping[str, Any], key: str | None, changes: Mapping[str, Any]
) -> tuple[dict[str, Any], str | None]:
    provider = {
        **_BUILTIN_PROVIDER,
        **stored,
        **{k: v for k, v in changes.items() if k != "api_key"},
    }
    _check_provider(provider)
    if _get_origin(provider["base_url"]) != _get_origin(stored.get("base_url")):
        # Otherwise somebody who cannot read the key could have it sent to their own server.
        key = None
    if "api_key" in changes:
        plain_key = changes["api_key"]
        key = container.keyring().encrypt(plain_key) if plain_key else None
    return provider, key


def _check_provider(provider: Mapping[str, Any]) -> None:
    if provider["kind"] == "openai_compatible":
        for name in ("base_url", "model"):
            if not provider[name]:
                message = "An OpenAI-compatible provider requires this setting."
                raise errors.invalid(message, f"settings.ai_provider.{name}")


def check_address(changes: Mapping[str, Any]) -> None:
    """Raise 400 if this service must not connect to the AI provider's address.

    Resolves the host name, so call this before locking any row.
    """
    url = changes.get("ai_provider", {}).get("base_url")
    if url:
        try:
            container.current().model_egress.check_url(url)
        except EgressRefused as refusal:
            raise errors.invalid(refusal.reason, "settings.ai_provider.base_url") from None


def _get_origin(url: str | None) -> tuple[str, str] | None:
    parts = urlsplit(url) if url else None
    return (parts.scheme, parts.netloc) if parts else None
