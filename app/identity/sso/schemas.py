"""Request and response schemas for single sign-on."""

from marshmallow import EXCLUDE

from app.kit.api import read_only
from app.kit.api.fields import (
    Bool,
    Int,
    List,
    Name,
    Nested,
    OneOf,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)
from app.kit.api.read_only import ReadOnly

_PROTOCOL_VALIDATOR = OneOf(("oidc", "saml"))
_ROLE_VALIDATOR = OneOf(("viewer", "labeler", "reviewer", "admin"))
_MAX_URL_LENGTH = 2000


class GroupMappingBody(Schema):
    """An entry of the group mapping, which maps a group to a role, a team or both."""

    group = Name(required=True, max_length=300)
    role = Str(validate=_ROLE_VALIDATOR, allow_none=True, load_default=None)
    team_id = Uuid(allow_none=True, load_default=None)


class OidcBody(Schema):
    """The settings for an OpenID Connect provider."""

    issuer = Name(required=True, max_length=500)
    client_id = Name(required=True, max_length=300)
    client_secret = Name(
        allow_none=True,
        max_length=1000,
        description=(
            "The client secret. If omitted, the stored secret is kept, unless `issuer` or"
            " `client_id` changes."
        ),
    )
    scopes = List(Name(max_length=100), max_items=20, load_default=["openid", "email", "profile"])
    groups_claim = Name(max_length=100, load_default="groups")
    has_client_secret = ReadOnly(read_only.BOOLEAN)
    redirect_uri = ReadOnly(read_only.STRING)


class SamlBody(Schema):
    """The settings for a SAML 2.0 provider: its metadata, or the URL of its metadata."""

    metadata_url = Name(allow_none=True, max_length=_MAX_URL_LENGTH, load_default=None)
    metadata_xml = Str(allow_none=True, max_length=500_000, load_default=None)
    name_id_format = Name(allow_none=True, max_length=200, load_default=None)
    entity_id = ReadOnly(read_only.STRING)
    acs_url = ReadOnly(read_only.STRING)


class ConfigureSso(Schema):
    """Request body to configure single sign-on.

    The request replaces the whole configuration; omitted fields get their defaults.
    """

    kind = Str(required=True, validate=_PROTOCOL_VALIDATOR, description="The protocol.")
    enabled = Bool(load_default=True)
    enforced = Bool(
        load_default=False,
        description="Whether passwords are disabled for the verified domains, except for owners.",
    )
    default_role = Str(validate=_ROLE_VALIDATOR, load_default="viewer")
    require_group = Bool(
        load_default=False,
        description="Whether people need a group in the mapping to sign in. Owners are exempt.",
    )
    email_domains = List(Name(max_length=253), max_items=50, load_default=[])
    group_mapping = List(Nested(GroupMappingBody), max_items=500, load_default=[])
    oidc = Nested(OidcBody, allow_none=True, load_default=None)
    saml = Nested(SamlBody, allow_none=True, load_default=None)
    revision = Int()


class GroupMapping(Response):
    """An entry of the stored group mapping."""

    group = Str()
    role = Str(allow_none=True, validate=_ROLE_VALIDATOR)
    team_id = Uuid(allow_none=True)


class Oidc(Response):
    """An OpenID Connect provider, and the redirect URI to register with it."""

    issuer = Str()
    client_id = Str()
    has_client_secret = Bool()
    scopes = List(Str())
    groups_claim = Str()
    redirect_uri = Str()


class Saml(Response):
    """A SAML 2.0 provider, and the values to register with it."""

    metadata_url = Str(allow_none=True)
    metadata_xml = Str(allow_none=True)
    name_id_format = Str(allow_none=True)
    entity_id = Str()
    acs_url = Str()


class DnsRecord(Response):
    """The DNS record that proves ownership of a domain."""

    type = Str()
    name = Str()
    value = Str()


class SsoDomain(Response):
    """An email domain, the time of its verification, and the DNS record that proves ownership."""

    domain = Str()
    verified_at = UtcDateTime(allow_none=True)
    problem = Str(allow_none=True, description="The problem with the verification, or null.")
    record = Nested(DnsRecord)


class Sso(Response):
    """The single sign-on configuration of an organization, without secrets."""

    id = Uuid()
    kind = Str(validate=_PROTOCOL_VALIDATOR, description="The protocol.")
    enabled = Bool()
    enforced = Bool()
    default_role = Str(validate=_ROLE_VALIDATOR)
    require_group = Bool()
    email_domains = List(Str())
    domains = List(Nested(SsoDomain))
    group_mapping = List(Nested(GroupMapping))
    oidc = Nested(Oidc, allow_none=True)
    saml = Nested(Saml, allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()
    revision = Int()


class StartSso(Schema):
    """Request body to start a sign-in: an email address or a slug, and the URL to return to.

    The value of `next` is returned to the application.
    """

    email = Name(max_length=320)
    org_slug = Name(max_length=100)
    redirect_uri = Name(
        allow_none=True,
        max_length=_MAX_URL_LENGTH,
        load_default=None,
        description=(
            "The URL of the application to return to after the sign-in. Its origin must be that of"
            " PUBLIC_URL or one of CORS_ORIGINS."
        ),
    )
    next = Name(allow_none=True, max_length=_MAX_URL_LENGTH, load_default=None)
    code_challenge = Str(
        allow_none=True,
        max_length=43,
        load_default=None,
        description="S256 challenge (RFC 7636), for applications that do not use the cookie.",
    )


class SsoRedirect(Response):
    """The URL to which the browser must be sent."""

    redirect_url = Str()
    kind = Str(validate=_PROTOCOL_VALIDATOR, description="The protocol.")
    expires_in = Int(description="The number of seconds after which the sign-in expires.")


class OidcCallbackQuery(Schema):
    """The query parameters of an OpenID Connect response; all other parameters are ignored."""

    class Meta:
        """Ignores additional parameters, because some providers send them."""

        unknown = EXCLUDE

    org = Str(
        max_length=100,
        description=(
            "The slug of the organization, from the redirect URI that is registered with the"
            " provider. If `org` is missing or is not the slug of the sign-in's organization, the"
            " response is refused with 403 `permission_denied`."
        ),
    )
    state = Str(required=True, min_length=1, max_length=200)
    code = Str(max_length=4000)
    iss = Str(max_length=500)
    error = Str(max_length=200)


class SamlResponseForm(Schema):
    """The form fields of a posted SAML response (saml-bindings 3.5.4)."""

    class Meta:
        """Ignores additional fields, such as a button's name, because some providers send them."""

        unknown = EXCLUDE

    SAMLResponse = Str(
        required=True,
        min_length=1,
        max_length=256 * 1024,
        metadata={"pattern": r"^[A-Za-z0-9+/\s]+={0,2}\s*$"},
        description="The response, base64-encoded.",
    )
    RelayState = Str(load_default="", max_length=200)


class SsoCode(Response):
    """The one-time code, if the sign-in has no redirect URI.

    If the person must first confirm the sign-in by email, `code` is null and `confirmation` is
    `email`. `next` is the value of `next` with which the sign-in was started.
    """

    code = Str(allow_none=True)
    expires_in = Int(
        allow_none=True, description="The number of seconds after which the code expires."
    )
    confirmation = Str(allow_none=True)
    next = Str(allow_none=True)


class ExchangeSsoCode(Schema):
    """Request body to exchange a one-time code.

    If the sign-in was started with a code challenge, the code verifier is required.
    """

    code = Name(required=True, max_length=200)
    code_verifier = Str(allow_none=True, max_length=128, load_default=None)
