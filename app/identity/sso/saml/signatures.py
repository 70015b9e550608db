"""Verify XML signatures (XMLDSig) in the form that SAML uses (saml-core 5.4), and no other form.

The cryptography is signxml's. The checks before and around it ensure which bytes were signed. The
signed element is first cut out of its document, so that a reference cannot point anywhere else, and
the returned element is parsed from the very bytes whose digest was verified.
"""

from collections.abc import Sequence

from cryptography import x509
from lxml import etree  # type: ignore[import-untyped]
from signxml.algorithms import DigestAlgorithm, SignatureMethod
from signxml.verifier import SignatureConfiguration, XMLVerifier

from app.identity.sso.saml.names import SIGNATURE
from app.identity.sso.saml.xml import ResponseRefused, children, detach, only_child

_EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#"
_ENVELOPED = "http://www.w3.org/2000/09/xmldsig#enveloped-signature"

SIGNATURE_METHODS = frozenset(
    {
        SignatureMethod.RSA_SHA256,
        SignatureMethod.RSA_SHA384,
        SignatureMethod.RSA_SHA512,
        SignatureMethod.SHA256_RSA_MGF1,
        SignatureMethod.SHA384_RSA_MGF1,
        SignatureMethod.SHA512_RSA_MGF1,
        SignatureMethod.ECDSA_SHA256,
        SignatureMethod.ECDSA_SHA384,
        SignatureMethod.ECDSA_SHA512,
    }
)
DIGESTS = frozenset({DigestAlgorithm.SHA256, DigestAlgorithm.SHA384, DigestAlgorithm.SHA512})
_METHOD_NAMES = frozenset(method.value for method in SIGNATURE_METHODS)
_DIGEST_NAMES = frozenset(digest.value for digest in DIGESTS)


def is_signed(element: etree._Element) -> bool:
    """Return whether the element has a signature of its own, valid or not."""
    return bool(children(element, SIGNATURE, "Signature"))


def verify(element: etree._Element, certificates: Sequence[x509.Certificate]) -> etree._Element:
    """Verify the signature of an element, and return the element parsed from the signed bytes.

    The signature is a direct child of the element and refers to its `ID`. The key of one of the
    certificates must have created it. Only the keys count, not the validity period of the
    certificates (SAML V2.0 Metadata Interoperability Profile, 2.5.1). Raises `ResponseRefused` if
    the signature is missing, wrong or of another form.
    """
    root = detach(element)
    signature = only_child(root, SIGNATURE, "Signature")
    _check_form(signature, root.get("ID"))
    # The library must not use a key or a certificate from the message itself.
    for key_info in children(signature, SIGNATURE, "KeyInfo"):
        signature.remove(key_info)
    for certificate in certificates:
        verified = _verify_with(root, certificate)
        if verified is not None:
            return verified
    raise ResponseRefused("no configured key created this signature")


def _verify_with(root: etree._Element, certificate: x509.Certificate) -> etree._Element | None:
    config = SignatureConfiguration(
        location="./",
        expect_references=1,
        signature_methods=SIGNATURE_METHODS,
        digest_algorithms=DIGESTS,
        verification_time=certificate.not_valid_before_utc,
    )
    try:
        result = XMLVerifier().verify(
            root, x509_cert=certificate, id_attribute="ID", expect_config=config
        )
    except Exception:  # noqa: BLE001 - any exception means that the signature is invalid
        return None
    if isinstance(result, list) or result.signed_xml is None:
        return None
    signed = result.signed_xml
    if signed.tag != root.tag or signed.get("ID") != root.get("ID"):
        return None
    return signed


def _check_form(signature: etree._Element, element_id: str | None) -> None:
    """Refuse signatures that saml-core 5.4 does not allow, before any computation."""
    info = only_child(signature, SIGNATURE, "SignedInfo")
    if children(signature, SIGNATURE, "Object"):
        raise ResponseRefused("the signature contains an object")
    if _get_algorithm(info, "CanonicalizationMethod") != _EXCLUSIVE:
        raise ResponseRefused("the canonicalization is not the exclusive one")
    if _get_algorithm(info, "SignatureMethod") not in _METHOD_NAMES:
        raise ResponseRefused("the signature algorithm is not accepted")
    reference = only_child(info, SIGNATURE, "Reference")
    if not element_id or reference.get("URI") != f"#{element_id}":
        raise ResponseRefused("the signature does not refer to its own element")
    if _get_algorithm(reference, "DigestMethod") not in _DIGEST_NAMES:
        raise ResponseRefused("the digest algorithm is not accepted")
    transforms = [step.get("Algorithm") for step in only_child(reference, SIGNATURE, "Transforms")]
    if transforms != [_ENVELOPED, _EXCLUSIVE]:
        raise ResponseRefused(
            "the transforms are not exactly enveloped signature and exclusive form"
        )


def _get_algorithm(parent: etree._Element, name: str) -> str | None:
    algorithm: str | None = only_child(parent, SIGNATURE, name).get("Algorithm")
    return algorithm
