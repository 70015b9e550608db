"""Schemas of requests and responses of single sign-on."""

from marshmallow import EXCLUDE

from app.kit.api.fields import (
    Bool,
    Int,
    List,
    Name,
    Nested,
    OneOf,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)

_KINDS = OneOf(("oidc", "saml"))
_ROLES = OneOf(("viewer", "labeler", "reviewer", "admin"))
_URL_LENGTH = 2000


class GroupMappingBody(Schema):
    """An entry of the group mapping: the role, the team or both that a group gives."""

    group = Name(required=True, max_length=300)
    role = Str(validate=_ROLES, allow_none=True, load_default=None)
    team_id = Uuid(allow_none=True, load_default=None)


class OidcBody(Schema):
    """An OpenID Connect provider."""

    issuer = Name(required=True, max_length=500)
    client_id = Name(required=True, max_length=300)
    client_secret = Name(
        allow_none=True,
        max_length=1000,
        metadata={
            "description": "If omitted, the stored secret is kept, provided that issuer and client "
            "id do not change."
        },
    )
    scopes = List(Name(max_length=100), max_items=20, load_default=["openid", "email", "profile"])
    groups_claim = Name(max_length=100, load_default="groups")


class SamlBody(Schema):
    """A SAML 2.0 provider: its metadata, or the URL of its metadata."""

    metadata_url = Name(allow_none=True, max_length=_URL_LENGTH, load_default=None)
    metadata_xml = Str(allow_none=True, max_length=500_000, load_default=None)
    name_id_format = Name(allow_none=True, max_length=200, load_default=None)


class ConfigureSso(Schema):
    """Request body to configure single sign-on.

    It replaces the whole configuration: omitted members get their default.
    """

    kind = Str(required=True, validate=_KINDS)
    enabled = Bool(load_default=True)
    enforced = Bool(
        load_default=False,
        metadata={"description": "Turns passwords off for the proven domains, except for owners."},
    )
    default_role = Str(validate=_ROLES, load_default="viewer")
    require_group = Bool(
        load_default=False,
        metadata={
            "description": "Except for owners, only people with a group of the mapping can sign in."
        },
    )
    email_domains = List(Name(max_length=253), max_items=50, load_default=[])
    group_mapping = List(Nested(GroupMappingBody), max_items=500, load_default=[])
    oidc = Nested(OidcBody, allow_none=True, load_default=None)
    saml = Nested(SamlBody, allow_none=True, load_default=None)
    revision = Int()


class GroupMapping(Schema):
    """An entry of the group mapping in a response."""

    group = Str(required=True)
    role = Str(required=True, allow_none=True, validate=_ROLES)
    team_id = Uuid(required=True, allow_none=True)


class Oidc(Schema):
    """An OpenID Connect provider, and the redirect URI to register with it."""

    issuer = Str(required=True)
    client_id = Str(required=True)
    has_client_secret = Bool(required=True)
    scopes = List(Str(), required=True)
    groups_claim = Str(required=True)
    redirect_uri = Str(required=True)


class Saml(Schema):
    """A SAML 2.0 provider, and the values to register with it."""

    metadata_url = Str(required=True, allow_none=True)
    metadata_xml = Str(required=True, allow_none=True)
    name_id_format = Str(required=True, allow_none=True)
    entity_id = Str(required=True)
    acs_url = Str(required=True)


class DnsRecord(Schema):
    """The DNS record that proves a domain."""

    type = Str(required=True)
    name = Str(required=True)
    value = Str(required=True)


class SsoDomain(Schema):
    """An email domain, and when the organization proved it."""

    domain = Str(required=True)
    verified_at = UtcDateTime(required=True, allow_none=True)
    problem = Str(required=True, allow_none=True)
    record = Nested(DnsRecord, required=True)


class Sso(Schema):
    """The single sign-on configuration of an organization, without secrets."""

    id = Uuid(required=True)
    kind = Str(required=True, validate=_KINDS)
    enabled = Bool(required=True)
    enforced = Bool(required=True)
    default_role = Str(required=True, validate=_ROLES)
    require_group = Bool(required=True)
    email_domains = List(Str(), required=True)
    domains = List(Nested(SsoDomain), required=True)
    group_mapping = List(Nested(GroupMapping), required=True)
    oidc = Nested(Oidc, required=True, allow_none=True)
    saml = Nested(Saml, required=True, allow_none=True)
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)
    revision = Int(required=True)


class StartSso(Schema):
    """Request body to start a sign-in, and the application to return to."""

    email = Name(max_length=320)
    org_slug = Name(max_length=100)
    redirect_uri = Name(
        allow_none=True,
        max_length=_URL_LENGTH,
        load_default=None,
        metadata={
            "description": "A URL whose origin is that of PUBLIC_URL or one of CORS_ORIGINS."
        },
    )
    next = Name(allow_none=True, max_length=_URL_LENGTH, load_default=None)
    code_challenge = Str(
        allow_none=True,
        max_length=43,
        load_default=None,
        metadata={
            "description": "S256 challenge (RFC 7636), for applications that do not use the cookie."
        },
    )


class SsoRedirect(Schema):
    """The URL to which the browser must be sent."""

    redirect_url = Str(required=True)
    kind = Str(required=True, validate=_KINDS)
    expires_in = Int(required=True, metadata={"description": "Seconds."})


class OidcAnswer(Schema):
    """The query of an OpenID Connect response; it may have other members too."""

    class Meta:
        """Ignores the members that providers add."""

        unknown = EXCLUDE

    state = Str(required=True, min_length=1, max_length=200)
    code = Str(max_length=4000)
    iss = Str(max_length=500)
    error = Str(max_length=200)


class SamlResponseForm(Schema):
    """The form of a SAML response (saml-bindings 3.5.4)."""

    class Meta:
        """Ignores members that providers add, such as the name of the button."""

        unknown = EXCLUDE

    SAMLResponse = Str(
        required=True,
        min_length=1,
        max_length=256 * 1024,
        metadata={
            "description": "The response, base64-encoded.",
            "pattern": r"^[A-Za-z0-9+/\s]+={0,2}\s*$",
        },
    )
    RelayState = Str(load_default="", max_length=200)


class SsoCode(Schema):
    """The one-time code, if the sign-in has no redirect URI.

    The code is null if the person must first confirm the sign-in by email.
    """

    code = Str(required=True, allow_none=True)
    expires_in = Int(required=True, allow_none=True, metadata={"description": "Seconds."})
    confirmation = Str(required=True, allow_none=True)
    next = Str(required=True, allow_none=True)


class ExchangeSsoCode(Schema):
    """A one-time code and, if the sign-in has a challenge, the code verifier."""

    code = Name(required=True, max_length=200)
    code_verifier = Str(allow_none=True, max_length=128, load_default=None)
