"""Names from the SAML 2.0 specifications (OASIS saml-core, saml-bindings, saml-metadata).

The attribute names are in lower case, because attributes are looked up in lower case. Providers use
common short names, X.500 object identifiers or Microsoft's claim URIs.
"""

ASSERTION = "urn:oasis:names:tc:SAML:2.0:assertion"
PROTOCOL = "urn:oasis:names:tc:SAML:2.0:protocol"
METADATA = "urn:oasis:names:tc:SAML:2.0:metadata"
SIGNATURE = "http://www.w3.org/2000/09/xmldsig#"

SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success"
BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"

UNSPECIFIED = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"
EMAIL = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
ENTITY = "urn:oasis:names:tc:SAML:2.0:nameid-format:entity"

NAME_ID_FORMATS = (PERSISTENT, EMAIL, UNSPECIFIED)
"""The name identifier formats that an organization can request.

An identifier in one of these formats identifies a person permanently.
"""

EMAIL_ATTRIBUTES = (
    "email",
    "mail",
    "emailaddress",
    "urn:oid:0.9.2342.19200300.100.1.3",
    "urn:oid:1.2.840.113549.1.9.1",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
)
NAME_ATTRIBUTES = (
    "displayname",
    "name",
    "cn",
    "urn:oid:2.16.840.1.113730.3.1.241",
    "http://schemas.microsoft.com/identity/claims/displayname",
    "urn:oid:2.5.4.3",
)
GIVEN_NAME_ATTRIBUTES = (
    "givenname",
    "firstname",
    "urn:oid:2.5.4.42",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname",
)
SURNAME_ATTRIBUTES = (
    "surname",
    "lastname",
    "sn",
    "urn:oid:2.5.4.4",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname",
)
FALLBACK_NAME_ATTRIBUTES = ("http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name",)
"""Used only if no other attribute contains a name, because Entra ID puts the login name there."""
GROUP_ATTRIBUTES = (
    "groups",
    "group",
    "memberof",
    "ismemberof",
    "urn:oid:1.3.6.1.4.1.5923.1.5.1.1",
    "http://schemas.xmlsoap.org/claims/group",
    "http://schemas.microsoft.com/ws/2008/06/identity/claims/groups",
)
"""Attributes that contain the names or ids of groups."""
GROUPS_LINK_ATTRIBUTE = "http://schemas.microsoft.com/claims/groups.link"
"""The attribute that Entra ID sends instead of more than 150 groups."""
