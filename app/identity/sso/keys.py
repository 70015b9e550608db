"""Public keys with which OpenID Connect providers sign ID tokens.

The keys are validated, stored in the database, and fetched again when the provider rotates them.
"""

from datetime import timedelta
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, Key, OKPKey, RSAKey
from sqlalchemy import case, func, or_, update

from app.identity.sso import queries
from app.identity.sso.fetching import UnusableResponse, fetch_object
from app.identity.sso.models import Configuration, ProviderState
from app.kit import db

ALGORITHMS = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "RSA"),
    **dict.fromkeys(("ES256", "ES384", "ES512"), "EC"),
    **dict.fromkeys(("EdDSA", "Ed25519"), "OKP"),
}
"""Maps each accepted signature algorithm for ID tokens to its key type.

All algorithms are asymmetric (RFC 7518, 8037, 9864), so that nobody can use a public key as a
shared secret.
"""

MAX_AGE = timedelta(minutes=10)
"""The age at which stored keys are fetched again, so that no withdrawn key is trusted for long."""
_MAX_AGE_AT_LIMIT = timedelta(hours=1)
"""The maximum age of stored keys if the rate limit prevents a new fetch."""
_MAX_FETCHES_PER_MINUTE = 10
_KEY_FIELDS = {"RSA": ("n", "e"), "EC": ("crv", "x", "y"), "OKP": ("crv", "x")}
_MAX_FIELD_LENGTH = 3000
_MAX_KEYS = 100
_RSA_BITS = range(2048, 16_385)


def parse_key_set(document: dict[str, Any]) -> dict[str, Any]:
    """Parse a provider's JWK set (RFC 7517); return a JWK set with only the usable signing keys.

    Fields that are not needed are dropped. Raises `UnusableResponse` if there is no usable key.
    """
    entries = document.get("keys")
    parsed_keys = [
        _parse_key(entry) for entry in (entries if isinstance(entries, list) else [])[:_MAX_KEYS]
    ]
    usable_keys = [key for key in parsed_keys if key is not None]
    if not usable_keys:
        raise UnusableResponse("the key set has no usable signing key")
    return {"keys": usable_keys}


def _parse_key(key: object) -> dict[str, str] | None:
    if not isinstance(key, dict) or key.get("use", "sig") != "sig":
        return None
    fields = _KEY_FIELDS.get(key["kty"]) if isinstance(key.get("kty"), str) else None
    if fields is None:
        return None
    names = ("kty", "kid", "alg", *fields)
    parsed_key = {name: key[name] for name in names if name in key}
    if not all(isinstance(v, str) and len(v) <= _MAX_FIELD_LENGTH for v in parsed_key.values()):
        return None
    # PostgreSQL cannot store NUL characters.
    if any("\x00" in value for value in parsed_key.values()) or not _is_usable_key(parsed_key):
        return None
    return parsed_key


def _is_usable_key(key: dict[str, str]) -> bool:
    try:
        imported_key = JWKRegistry.import_key(dict(key))
        if isinstance(imported_key, RSAKey):
            return imported_key.raw_value.key_size in _RSA_BITS
    except (JoseError, ValueError, TypeError, KeyError, UnicodeError):
        return False
    return isinstance(imported_key, ECKey | OKPKey)


def match_keys(key_set: dict[str, Any], algorithm: str, kid: str | None) -> list[Key]:
    """Return the keys in a set that match the algorithm and key id in a token's header.

    If `kid` is None, returns all keys that match the algorithm.
    """
    return [
        JWKRegistry.import_key(dict(key))
        for key in key_set.get("keys", ())
        if key["kty"] == ALGORITHMS[algorithm]
        and key.get("alg", algorithm) == algorithm
        and (kid is None or key.get("kid") == kid)
    ]


def get_signing_keys(configuration: Configuration, algorithm: str, kid: str | None) -> list[Key]:
    """Return the provider's keys that match the algorithm and key id in a token's header.

    If the stored keys are too old or none of them matches, the keys are fetched again, at most ten
    times a minute. The list is empty if no fetched key matches. The function commits before the
    request, so that no transaction is open. Raises `UnusableResponse` if the keys cannot be
    fetched, or if the limit is reached and no stored key is usable.
    """
    state = queries.get_provider_state(configuration.id)
    now = db.utc_now()
    age = now - state.fetched_at if state is not None and state.fetched_at else None
    matching_keys = match_keys(state.keys, algorithm, kid) if state is not None else []
    db.checkpoint()
    if matching_keys and age is not None and age < MAX_AGE:
        return matching_keys
    if not _claim_fetch(configuration):
        if matching_keys and age is not None and age < _MAX_AGE_AT_LIMIT:
            return matching_keys
        raise UnusableResponse("the provider's keys were requested too often")
    return match_keys(_fetch_and_store(configuration), algorithm, kid)


def _claim_fetch(configuration: Configuration) -> bool:
    """Count a fetch of keys toward the limit per minute, and return whether it is allowed."""
    window_is_over = or_(
        ProviderState.window_at.is_(None),
        ProviderState.window_at < func.now() - timedelta(minutes=1),
    )
    result = db.execute_bulk(
        update(ProviderState)
        .where(
            ProviderState.configuration_id == configuration.id,
            or_(window_is_over, ProviderState.fetches < _MAX_FETCHES_PER_MINUTE),
        )
        .values(
            window_at=case((window_is_over, func.now()), else_=ProviderState.window_at),
            fetches=case((window_is_over, 1), else_=ProviderState.fetches + 1),
        )
        .returning(ProviderState.configuration_id)
    )
    is_within_limit = result.first() is not None
    db.checkpoint()
    return is_within_limit


def _fetch_and_store(configuration: Configuration) -> dict[str, Any]:
    key_set = parse_key_set(fetch_object("GET", configuration.provider["jwks_uri"]))
    store(configuration, key_set)
    db.checkpoint()
    return key_set


def store(configuration: Configuration, key_set: dict[str, Any]) -> None:
    """Store a validated key set, and set the time of the last fetch to now."""
    state = queries.get_provider_state(configuration.id)
    if state is None:
        state = ProviderState(configuration_id=configuration.id)
        db.session().add(state)
    state.keys = key_set
    state.fetched_at = db.utc_now()
    db.session().flush()
