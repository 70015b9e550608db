"""Bodies and answers of single sign-on."""

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
    """What a group at the provider gives here: a role, a team, or both."""

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
            "description": "Left out: the stored one, while issuer and client stay the same."
        },
    )
    scopes = List(Name(max_length=100), max_items=20, load_default=["openid", "email", "profile"])
    groups_claim = Name(max_length=100, load_default="groups")


class SamlBody(Schema):
    """A SAML 2.0 provider: its metadata, or where it is."""

    metadata_url = Name(allow_none=True, max_length=_URL_LENGTH, load_default=None)
    metadata_xml = Str(allow_none=True, max_length=500_000, load_default=None)
    name_id_format = Name(allow_none=True, max_length=200, load_default=None)


class ConfigureSso(Schema):
    """Single sign-on of an organization, whole: what is left out gets its default."""

    kind = Str(required=True, validate=_KINDS)
    enabled = Bool(load_default=True)
    enforced = Bool(
        load_default=False,
        metadata={"description": "Turns passwords off for the proven domains, owners aside."},
    )
    default_role = Str(validate=_ROLES, load_default="viewer")
    require_group = Bool(
        load_default=False,
        metadata={"description": "Without a group of the mapping nobody comes in."},
    )
    email_domains = List(Name(max_length=253), max_items=50, load_default=[])
    group_mapping = List(Nested(GroupMappingBody), max_items=500, load_default=[])
    oidc = Nested(OidcBody, allow_none=True, load_default=None)
    saml = Nested(SamlBody, allow_none=True, load_default=None)
    revision = Int()


class GroupMapping(Schema):
    """What a group at the provider gives here."""

    group = Str(required=True)
    role = Str(required=True, allow_none=True, validate=_ROLES)
    team_id = Uuid(required=True, allow_none=True)


class Oidc(Schema):
    """An OpenID Connect provider, and the address to register with it."""

    issuer = Str(required=True)
    client_id = Str(required=True)
    has_client_secret = Bool(required=True)
    scopes = List(Str(), required=True)
    groups_claim = Str(required=True)
    redirect_uri = Str(required=True)


class Saml(Schema):
    """A SAML 2.0 provider, and what to tell it of this service."""

    metadata_url = Str(required=True, allow_none=True)
    metadata_xml = Str(required=True, allow_none=True)
    name_id_format = Str(required=True, allow_none=True)
    entity_id = Str(required=True)
    acs_url = Str(required=True)


class DnsRecord(Schema):
    """A record that proves a domain."""

    type = Str(required=True)
    name = Str(required=True)
    value = Str(required=True)


class SsoDomain(Schema):
    """A domain of mail addresses, and whether the organization has proven it."""

    domain = Str(required=True)
    verified_at = UtcDateTime(required=True, allow_none=True)
    problem = Str(required=True, allow_none=True)
    record = Nested(DnsRecord, required=True)


class Sso(Schema):
    """Single sign-on of an organization, secrets left out."""

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
    """Who signs in where, and the application that they come back to."""

    email = Name(max_length=320)
    org_slug = Name(max_length=100)
    redirect_uri = Name(
        allow_none=True,
        max_length=_URL_LENGTH,
        load_default=None,
        metadata={"description": "An address under PUBLIC_URL's origin or one of CORS_ORIGINS."},
    )
    next = Name(allow_none=True, max_length=_URL_LENGTH, load_default=None)
    code_challenge = Str(
        allow_none=True,
        max_length=43,
        load_default=None,
        metadata={"description": "S256 of RFC 7636; instead of the cookie, for applications."},
    )


class SsoStart(Schema):
    """Where to send the browser."""

    redirect_url = Str(required=True)
    kind = Str(required=True, validate=_KINDS)
    expires_in = Int(required=True, metadata={"description": "Seconds."})


class OidcAnswer(Schema):
    """The query that a provider sends a browser back with; it may have members of its own."""

    class Meta:
        """Providers add what they like."""

        unknown = EXCLUDE

    state = Str(required=True, min_length=1, max_length=200)
    code = Str(max_length=4000)
    iss = Str(max_length=500)
    error = Str(max_length=200)


class SamlAnswer(Schema):
    """The form that a provider lets a browser post (saml-bindings 3.5.4)."""

    class Meta:
        """Providers may add members, such as the button's."""

        unknown = EXCLUDE

    SAMLResponse = Str(
        required=True,
        min_length=1,
        max_length=256 * 1024,
        metadata={
            "description": "The response in base64.",
            "pattern": r"^[A-Za-z0-9+/\s]+={0,2}\s*$",
        },
    )
    RelayState = Str(load_default="", max_length=200)


class SsoCode(Schema):
    """The one-time code, where no application waits for it. Null: confirm by mail first."""

    code = Str(required=True, allow_none=True)
    expires_in = Int(required=True, allow_none=True, metadata={"description": "Seconds."})
    confirmation = Str(required=True, allow_none=True)
    next = Str(required=True, allow_none=True)


class ExchangeSsoCode(Schema):
    """The one-time code and, where it was begun with a challenge, the verifier."""

    code = Name(required=True, max_length=200)
    code_verifier = Str(allow_none=True, max_length=128, load_default=None)
