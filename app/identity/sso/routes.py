"""Single sign-on: its configuration, its beginning and its end, and the protocols' answers."""

from functools import partial
from typing import Any

from flask import request

from app.identity.auth.schemas import LoginResult
from app.identity.sso import arrivals, cookies, flows, oidc, saml_provider, service
from app.identity.sso.schemas import (
    ConfigureSso,
    ExchangeSsoCode,
    OidcAnswer,
    SamlAnswer,
    Sso,
    SsoCode,
    SsoStart,
    StartSso,
)
from app.kit.api.blueprint import MIB, Blueprint, File
from app.kit.api.responses import Reply
from app.kit.principal import Caller

blueprint = Blueprint("sso", tag="auth")
configurations = Blueprint("sso_configurations", tag="organizations")


@blueprint.post("/auth/sso/start", access="public", limit="sso", body=StartSso, returns=SsoStart)
def start_sso(body: dict[str, Any]) -> Any:
    """From an e-mail address or an organization slug to the identity provider's redirect URL."""
    browser = flows.browser_secret(cookies.read())
    told, kind = service.start(**body, browser=browser)
    return Reply(told, headers=cookies.header(browser, kind))


@blueprint.get(
    oidc.CALLBACK, access="public", limit="sso", query=OidcAnswer, returns=SsoCode, writes=True
)
def oidc_callback(query: dict[str, Any]) -> Any:
    """OpenID Connect redirect target; sends on to the application, or answers the one-time code."""
    read = partial(oidc.read, query)
    return arrivals.arrive("oidc", state=query["state"], browser=cookies.read(), read=read)


@blueprint.post(
    saml_provider.ACS,
    access="public",
    limit="sso",
    body=SamlAnswer,
    form=True,
    max_body=256 * 1024,
    returns=SsoCode,
)
def saml_acs(org_slug: str, body: dict[str, Any]) -> Any:
    """SAML 2.0 assertion consumer service; sends on to the application, or answers the code."""
    return saml_provider.arrive(org_slug, body, browser=cookies.read())


@blueprint.get(
    saml_provider.METADATA,
    access="public",
    limit="sso",
    returns=File((saml_provider.METADATA_TYPE,)),
)
def saml_metadata(org_slug: str) -> Any:
    """SAML 2.0 service-provider metadata, to set a provider up with: the same for every slug."""
    return saml_provider.own_metadata(org_slug)


@blueprint.post(
    "/auth/sso/exchange", access="public", limit="sso", body=ExchangeSsoCode, returns=LoginResult
)
def exchange_sso_code(body: dict[str, Any]) -> Any:
    """Exchange the one-time code handed to the application for the login response."""
    agent = request.headers.get("User-Agent")
    return service.exchange(
        **body, browser=cookies.read(), ip_address=request.remote_addr, user_agent=agent
    )


@configurations.get("/organizations/{org_slug}/sso", permission="sso:manage", returns=Sso)
def get_sso(caller: Caller) -> Any:
    """The single sign-on configuration, secrets left out."""
    return service.get(caller.org.slug)


@configurations.post(
    "/organizations/{org_slug}/sso",
    permission="sso:manage",
    limit="sso",
    body=ConfigureSso,
    returns=Sso,
    revision="optional",
    max_body=MIB,
    # Whoever configures it says who is let in.
    keys=False,
)
def configure_sso(caller: Caller, body: dict[str, Any], revision: int | None) -> Any:
    """Configure OpenID Connect or SAML single sign-on, checked against the provider's metadata."""
    return service.configure(slug=caller.org.slug, revision=revision, **body)
