"""API routes for single sign-on: configuration, sign-ins and providers' responses."""

from functools import partial
from typing import Any

from app.identity.auth.routes import read_client
from app.identity.auth.schemas import LoginResult
from app.identity.sso import callbacks, cookies, flows, links, oidc, saml_provider, service
from app.identity.sso.schemas import (
    ConfigureSso,
    ExchangeSsoCode,
    OidcCallbackQuery,
    SamlResponseForm,
    Sso,
    SsoCode,
    SsoRedirect,
    StartSso,
)
from app.kit.api.blueprint import MIB, Blueprint, File
from app.kit.api.responses import Download, Redirect, Reply
from app.kit.principal import Caller

blueprint = Blueprint("sso", tag="auth")
configurations = Blueprint("sso_configurations", tag="organizations")


@blueprint.post("/auth/sso/start", access="public", limit="sso", body=StartSso, returns=SsoRedirect)
def start_sso(body: dict[str, Any]) -> Reply:
    """Start single sign-on.

    Finds the organization by the domain of an email address or by a slug, and returns the sign-in
    URL at its identity provider. Sets the cookie that binds the sign-in to the browser.
    """
    browser_secret = flows.get_browser_secret(cookies.read())
    result = service.start(**body, browser_secret=browser_secret)
    return Reply(result, headers=cookies.build_header(browser_secret, result.kind))


@blueprint.get(
    links.OIDC_CALLBACK,
    access="public",
    limit="sso",
    query=OidcCallbackQuery,
    returns=SsoCode,
    writes=True,
)
def oidc_callback(query: dict[str, Any]) -> dict[str, Any] | Redirect:
    """Receive an OpenID Connect response.

    With the query parameter `org`, this is the redirect URI for an organization's OpenID Connect
    provider. Redirects to the application with a one-time code, or returns the code if the sign-in
    has no redirect URI. Refuses the response of a sign-in in another organization.
    """
    return callbacks.complete_sign_in(
        "oidc",
        state=query["state"],
        browser_secret=cookies.read(),
        read_identity=partial(oidc.read_identity, query),
        slug=query.get("org"),
    )


@blueprint.post(
    saml_provider.ACS_PATH,
    access="public",
    limit="sso",
    body=SamlResponseForm,
    is_form=True,
    max_body=256 * 1024,
    returns=SsoCode,
)
def saml_acs(org_slug: str, body: dict[str, Any]) -> dict[str, Any] | Redirect:
    """Receive a SAML response.

    This is the SAML 2.0 assertion consumer service. Redirects to the application with a one-time
    code, or returns the code if the sign-in has no redirect URI.
    """
    return saml_provider.complete_sign_in(org_slug, body, browser_secret=cookies.read())


@blueprint.get(
    saml_provider.METADATA_PATH,
    access="public",
    limit="sso",
    returns=File((saml_provider.METADATA_TYPE,)),
)
def saml_metadata(org_slug: str) -> Download:
    """Get the SAML metadata.

    Returns the SAML 2.0 metadata of this service, with which an administrator configures an
    identity provider. The response is the same whether or not the organization exists.
    """
    return saml_provider.build_metadata(org_slug)


@blueprint.post(
    "/auth/sso/exchange", access="public", limit="sso", body=ExchangeSsoCode, returns=LoginResult
)
def exchange_sso_code(body: dict[str, Any]) -> object:
    """Exchange a single sign-on code.

    Exchanges a one-time code for the login response. The caller must have the cookie or the code
    verifier of the sign-in. A code can be used only once.
    """
    return service.exchange(**body, browser_secret=cookies.read(), client=read_client())


@configurations.get("/organizations/{org_slug}/sso", permission="sso:manage", returns=Sso)
def get_sso(caller: Caller) -> object:
    """Get the single sign-on configuration.

    Returns the organization's configuration and the status of its domains, without secrets.
    """
    return service.get(caller.org.slug)


@configurations.post(
    "/organizations/{org_slug}/sso",
    permission="sso:manage",
    limit="sso",
    body=ConfigureSso,
    returns=Sso,
    revision="optional",
    max_body=MIB,
    # A leaked API key must not be able to change who can sign in.
    allows_api_keys=False,
)
def configure_sso(caller: Caller, body: dict[str, Any], revision: int | None) -> object:
    """Configure single sign-on.

    Creates or replaces the organization's OpenID Connect or SAML configuration. Checks the
    provider's metadata and the DNS records of the email domains. If single sign-on is enforced,
    ends the password sessions of users in verified domains, except for owners.
    """
    return service.configure(caller=caller, revision=revision, **body)
