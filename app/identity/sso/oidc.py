"""OpenID Connect: provider checks, authorization URLs and responses.

Implements Discovery 1.0, the code flow of Core 1.0, PKCE with S256 (RFC 7636) and issuer
identification (RFC 9207).
"""

import base64
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from authlib.common.urls import add_params_to_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from app.identity.sso import flows, id_tokens, keys, links
from app.identity.sso.fetching import RequestRejected, UnusableResponse, fetch_object
from app.identity.sso.models import Configuration, Flow
from app.identity.sso.providers import (
    ExternalIdentity,
    NewFlow,
    ProviderCheck,
    build_invalid_response_error,
)
from app.kit import container, errors, outbound_slots
from app.kit.egress.policy import EgressRefused
from app.kit.errors import ApiError
from app.kit.logging import get_logger

log = get_logger(__name__)

_DISCOVERY_PATH = "/.well-known/openid-configuration"
_ERROR_CODE = re.compile(r"[a-z_]{1,60}")


def check(settings: Mapping[str, Any]) -> ProviderCheck:
    """Check the provider by fetching and validating its discovery document and its keys.

    Raises 400 for `oidc.issuer` if the issuer, the document or the keys cannot be used.
    """
    issuer = settings["issuer"]
    try:
        _check_issuer(issuer)
        document = fetch_object("GET", issuer.rstrip("/") + _DISCOVERY_PATH)
        provider_data = _parse_discovery(issuer, document)
        key_set = keys.parse_key_set(fetch_object("GET", provider_data["jwks_uri"]))
    except (UnusableResponse, EgressRefused) as failure:
        message = f"The provider's metadata cannot be used: {failure}."
        raise errors.invalid(message, "oidc.issuer") from None
    return ProviderCheck(issuer, provider_data, key_set)


def build_authorization_url(configuration: Configuration, slug: str, new_flow: NewFlow) -> str:
    """Build the URL of the authorization request (Core 1.0, section 3.1.2.1)."""
    parameters = {
        "response_type": "code",
        "client_id": configuration.settings["client_id"],
        "redirect_uri": links.build_oidc_redirect_uri(slug),
        "scope": " ".join(configuration.settings["scopes"]),
        "state": new_flow.state,
        "nonce": new_flow.flow.nonce,
        "code_challenge": create_s256_code_challenge(new_flow.code_verifier),
        "code_challenge_method": "S256",
    }
    if new_flow.hint is not None:
        parameters["login_hint"] = new_flow.hint
    endpoint = configuration.provider["authorization_endpoint"]
    return str(add_params_to_uri(endpoint, list(parameters.items())))


def describe(configuration: Configuration, slug: str) -> dict[str, Any]:
    """Return a configuration's settings, and the redirect URI to register with the provider."""
    return {
        **configuration.settings,
        "has_client_secret": configuration.client_secret is not None,
        "redirect_uri": links.build_oidc_redirect_uri(slug),
    }


def _check_issuer(issuer: str) -> None:
    try:
        parts = urlsplit(issuer)
    except ValueError:
        raise UnusableResponse("the issuer is not a URL") from None
    if parts.query or parts.fragment or not issuer.isascii():
        raise UnusableResponse("the issuer must be an ASCII URL without a query or fragment")
    container.current().egress.check_url(issuer, lookup_limiter=outbound_slots.hold_slot)


def _parse_discovery(issuer: str, document: dict[str, Any]) -> dict[str, Any]:
    """Validate a discovery document, and return the provider data to store.

    Raises `UnusableResponse` if the document is not acceptable, or an error of `_parse_endpoint`.
    """
    if document.get("issuer") != issuer:
        raise UnusableResponse("its issuer is not exactly the configured issuer")
    if "code" not in _read_strings(document, "response_types_supported"):
        raise UnusableResponse("the provider does not support the code flow")
    if "S256" not in (_read_strings(document, "code_challenge_methods_supported") or ["S256"]):
        raise UnusableResponse("the provider supports PKCE, but not with S256")
    supported_algorithms = _read_strings(document, "id_token_signing_alg_values_supported")
    algorithms = [name for name in supported_algorithms if name in keys.ALGORITHMS]
    if not algorithms:
        raise UnusableResponse(
            "the provider supports no accepted signature algorithm for ID tokens"
        )
    methods = _read_strings(document, "token_endpoint_auth_methods_supported")
    # Without this field, the provider supports client_secret_basic (Discovery 1.0, section 3).
    supports_basic = not methods or "client_secret_basic" in methods
    return {
        "authorization_endpoint": _parse_endpoint(
            document, "authorization_endpoint", for_browser=True
        ),
        "token_endpoint": _parse_endpoint(document, "token_endpoint"),
        "jwks_uri": _parse_endpoint(document, "jwks_uri"),
        "userinfo_endpoint": _parse_endpoint(document, "userinfo_endpoint")
        if document.get("userinfo_endpoint") is not None
        else None,
        "algorithms": algorithms,
        "client_auth": "client_secret_basic" if supports_basic else "client_secret_post",
        "names_itself": document.get("authorization_response_iss_parameter_supported") is True,
    }


def _read_strings(document: dict[str, Any], name: str) -> list[str]:
    values = document.get(name)
    if not isinstance(values, list):
        return []
    return [value for value in values[:100] if isinstance(value, str)]


def _parse_endpoint(document: dict[str, Any], name: str, *, for_browser: bool = False) -> str:
    """Return an endpoint URL from the discovery document after validating it.

    If only the browser calls the endpoint, an https URL is sufficient. Otherwise, the egress policy
    must allow the URL, or `EgressRefused` is raised. Raises `UnusableResponse` for other problems.
    """
    url = document.get(name)
    if not isinstance(url, str) or len(url) > 2000 or not (url.isascii() and url.isprintable()):  # noqa: PLR2004
        raise UnusableResponse(f"its {name} is missing or not a URL")
    egress = container.current().egress
    if not for_browser:
        egress.check_url(url, lookup_limiter=outbound_slots.hold_slot)
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        raise UnusableResponse(f"its {name} is missing or not a URL") from None
    schemes = ("https", "http") if egress.policy.allow_http else ("https",)
    if parts.scheme not in schemes or not parts.hostname or parts.fragment or parts.username:
        raise UnusableResponse(f"its {name} is not an https URL")
    return url


def read_identity(
    query: Mapping[str, Any], configuration: Configuration, flow: Flow, org_slug: str
) -> ExternalIdentity:
    """Verify the provider's response, and return the identity that it contains.

    `query` contains the query parameters of the callback. Commits before the provider's keys are
    fetched. Raises 403 `permission_denied` if the provider refused the sign-in, 401
    `invalid_credentials` if the response is not valid, 422 if it contains no authorization code,
    and 503 `service_unavailable` if the provider is unavailable.
    """
    code = _read_code(configuration, flow, query)
    try:
        tokens = _exchange_code(configuration, flow, code, org_slug)
        access_token = tokens.get("access_token")
        access_token = access_token if isinstance(access_token, str) else None
        claims = id_tokens.verify(
            tokens.get("id_token"), configuration, flow, access_token=access_token
        )
        completed_claims = _complete_claims(configuration, claims, access_token)
        return id_tokens.build_identity(configuration, completed_claims)
    except id_tokens.InvalidToken as refusal:
        log.warning("sso.token_refused", issuer=flow.issuer, reason=str(refusal))
        raise build_invalid_response_error(str(refusal)) from None
    except (UnusableResponse, EgressRefused) as failure:
        log.warning("sso.provider_unusable", issuer=flow.issuer, reason=str(failure))
        message = f"The request to the identity provider failed: {failure}."
        raise ApiError("service_unavailable", message) from None


def _read_code(configuration: Configuration, flow: Flow, query: Mapping[str, Any]) -> str:
    """Check the issuer of the response (RFC 9207), and return the authorization code."""
    issuer = query.get("iss")
    if issuer is None and configuration.provider["names_itself"]:
        raise build_invalid_response_error("it does not say which provider it comes from")
    if issuer not in (None, flow.issuer):
        raise build_invalid_response_error("it comes from another provider")
    if query.get("error"):
        error = query["error"] if _ERROR_CODE.fullmatch(query["error"]) else "an unknown error"
        raise errors.denied(f"The identity provider refused the sign-in: {error}.")
    code = query.get("code")
    if not code:
        raise errors.unprocessable("code", "The provider's response has no code and no error.")
    return str(code)


def _exchange_code(
    configuration: Configuration, flow: Flow, code: str, org_slug: str
) -> dict[str, Any]:
    """Exchange the authorization code and the PKCE verifier for tokens (RFC 6749, 4.1.3)."""
    client_id = configuration.settings["client_id"]
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": links.build_oidc_redirect_uri(org_slug),
        "code_verifier": flows.decrypt_code_verifier(flow),
    }
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    secret = _decrypt_client_secret(configuration)
    if secret is not None and configuration.provider["client_auth"] == "client_secret_basic":
        # Both parts are form-encoded before they are joined (RFC 6749, section 2.3.1).
        credentials = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(credentials.encode()).decode()}"
    else:
        form["client_id"] = client_id
        if secret is not None:
            form["client_secret"] = secret
    endpoint = configuration.provider["token_endpoint"]
    try:
        return fetch_object("POST", endpoint, headers=headers, body=urlencode(form).encode())
    except RequestRejected as rejection:
        message = f"the provider did not accept the authorization code: {rejection}"
        raise id_tokens.InvalidToken(message) from None


def _decrypt_client_secret(configuration: Configuration) -> str | None:
    secret = configuration.client_secret
    return None if secret is None else container.keyring().decrypt(secret).decode()


def _complete_claims(
    configuration: Configuration, claims: dict[str, Any], access_token: str | None
) -> dict[str, Any]:
    """Add missing claims from the userinfo endpoint, if there is one (Core 1.0, section 5.3)."""
    endpoint = configuration.provider["userinfo_endpoint"]
    required_claims = ["email", "name"]
    if configuration.group_mapping:
        required_claims.append(configuration.settings["groups_claim"])
    if endpoint is None or access_token is None or all(name in claims for name in required_claims):
        return claims
    if not (access_token.isascii() and access_token.isprintable()):
        raise id_tokens.InvalidToken("the access token contains invalid characters")
    userinfo = fetch_object("GET", endpoint, headers={"Authorization": f"Bearer {access_token}"})
    if userinfo.get("sub") != claims["sub"]:
        raise id_tokens.InvalidToken("the userinfo endpoint returned another subject")
    merged_claims = {**userinfo, **claims}
    # `email_verified` applies only to the address from the same source.
    values = [
        source["email_verified"]
        for source in (claims, userinfo)
        if "email_verified" in source and source.get("email") == merged_claims.get("email")
    ]
    return {**merged_claims, "email_verified": values[0] if values else None}
