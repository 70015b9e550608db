"""Authentication requests (saml-core 3.4.1) with the HTTP-Redirect binding (saml-bindings 3.4).

Requests need no signature, because the provider sends responses only to the URL that is registered
with the provider.
"""

import base64
import zlib
from datetime import datetime
from urllib.parse import quote, urlsplit

from lxml import etree  # type: ignore[import-untyped]

from app.identity.sso.saml.names import ASSERTION, POST, PROTOCOL
from app.identity.sso.saml.xml import build_tag

_NAMESPACES = {"samlp": PROTOCOL, "saml": ASSERTION}


def build_authn_request(
    *,
    request_id: str,
    sso_url: str,
    issuer: str,
    acs_url: str,
    name_id_format: str | None,
    now: datetime,
) -> bytes:
    """Build an AuthnRequest as an XML document.

    `request_id` must be a valid XML id (NCName). `issuer` is this service's entity id.
    """
    root = etree.Element(
        build_tag(PROTOCOL, "AuthnRequest"),
        {
            "ID": request_id,
            "Version": "2.0",
            "IssueInstant": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "Destination": sso_url,
            "AssertionConsumerServiceURL": acs_url,
            "ProtocolBinding": POST,
        },
        nsmap=_NAMESPACES,
    )
    etree.SubElement(root, build_tag(ASSERTION, "Issuer")).text = issuer
    policy = etree.SubElement(root, build_tag(PROTOCOL, "NameIDPolicy"), {"AllowCreate": "true"})
    if name_id_format is not None:
        policy.set("Format", name_id_format)
    document: bytes = etree.tostring(root)
    return document


def build_redirect_url(sso_url: str, request: bytes, relay_state: str) -> str:
    """Build the URL to redirect to: the sign-on URL with the request and the relay state.

    The provider returns `relay_state` with its response. `relay_state` must not exceed 80 bytes.
    """
    compressor = zlib.compressobj(wbits=-15)
    message = base64.b64encode(compressor.compress(request) + compressor.flush()).decode()
    query = f"SAMLRequest={quote(message, safe='')}&RelayState={quote(relay_state, safe='')}"
    return f"{sso_url}{'&' if urlsplit(sso_url).query else '?'}{query}"
