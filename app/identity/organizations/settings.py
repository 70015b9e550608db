"""Organization settings: validation, defaults, and rendering for clients."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from app.kit import container, errors, locales, outbound_slots
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
ALLOWS_SELF_REVIEW = """
coalesce((
    SELECT settings -> 'allow_self_review' = 'true' FROM organizations WHERE id = {organization}
), false)"""
"""The function `allows_self_review` as SQL; `{organization}` stands for SQL that gives the id."""
_RANGES = {"retention_days": (1, 36_500), "claim_minutes": (1, 1440), "draft_hours": (1, 8760)}


def render(stored_settings: Mapping[str, Any], provider_key: str | None) -> dict[str, Any]:
    """Render all settings in the API's format, with defaults, but without the AI provider's key.

    `ai_provider.api_key_set` is true if the organization has a key.
    """
    provider = {
        **_BUILTIN_PROVIDER,
        **stored_settings.get("ai_provider", {}),
        "api_key_set": bool(provider_key),
    }
    return {**DEFAULTS, **stored_settings, "ai_provider": provider}


def merge(
    stored_settings: Mapping[str, Any], provider_key: str | None, changes: Mapping[str, Any]
) -> tuple[dict[str, Any], str | None]:
    """Merge `changes` into the settings; return the settings and encrypted provider key to store.

    `changes` contains settings in the API's format, including `ai_provider.api_key`. Settings that
    are not in `changes` keep their values. Call `check_provider_address` first: this function does
    not check the address of `base_url`. Raises 400 `validation_error` on an invalid setting.
    """
    merged = {**stored_settings, **{k: v for k, v in changes.items() if k != "ai_provider"}}
    for name in changes:
        _validate(merged, name)
    if "ai_provider" in changes:
        merged["ai_provider"], provider_key = _merge_provider(
            stored_settings.get("ai_provider", {}), provider_key, changes["ai_provider"]
        )
    return merged, provider_key


def get_claim_minutes(stored_settings: Mapping[str, Any]) -> int:
    """Return the number of minutes after which a claim expires unless it is renewed."""
    default = DEFAULTS["claim_minutes"]
    return int(stored_settings.get("claim_minutes") or default)


def allows_self_review(stored_settings: Mapping[str, Any]) -> bool:
    """Return whether reviewers may accept or reject tag sets that they labeled."""
    return stored_settings.get("allow_self_review") is True


def get_draft_hours(stored_settings: Mapping[str, Any]) -> int:
    """Return the number of hours for which a draft reserves its document after the claim ends."""
    return int(stored_settings.get("draft_hours") or DEFAULTS["draft_hours"])


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
    stored_provider: Mapping[str, Any], key: str | None, changes: Mapping[str, Any]
) -> tuple[dict[str, Any], str | None]:
    provider = {
        **_BUILTIN_PROVIDER,
        **stored_provider,
        **{k: v for k, v in changes.items() if k != "api_key"},
    }
    _check_provider(provider)
    if _get_origin(provider["base_url"]) != _get_origin(stored_provider.get("base_url")):
        # Otherwise, somebody who cannot read the key could make this service send it to their own
        # server.
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


def check_provider_address(changes: Mapping[str, Any], owner_id: UUID) -> None:
    """Raise 400 for `base_url` if this service must not connect to the AI provider's address.

    Does nothing if `changes` contains no address. Resolves the host name, which may be slow. Call
    this function before locking any row. `owner_id` is the id of the organization or, when an
    organization is created, of the user. Raises 503 if too many checks are running, or another
    check of the owner (see `outbound_slots.hold_check_slot`).
    """
    url = changes.get("ai_provider", {}).get("base_url")
    if url:
        try:
            lookup_limiter = partial(outbound_slots.hold_check_slot, owner_id)
            container.current().model_egress.check_url(url, lookup_limiter=lookup_limiter)
        except EgressRefused as refusal:
            message = f"This URL is not accepted: {refusal.reason}."
            raise errors.invalid(message, "settings.ai_provider.base_url") from None


def _get_origin(url: str | None) -> tuple[str, str] | None:
    parts = urlsplit(url) if url else None
    return (parts.scheme, parts.netloc) if parts else None
