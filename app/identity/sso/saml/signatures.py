"""Verification of XML signatures (XMLDSig), only in the form that SAML uses (saml-core 5.4).

The library signxml verifies the signature and the digest. To ensure that the signature covers the
whole element, the element is first copied to a separate document, so that a reference cannot point
to another element. The returned element is parsed from exactly the bytes whose digest was verified.
"""

from collections.abc import Sequence

from cryptography import x509
from lxml import etree  # type: ignore[import-untyped]
from signxml.algorithms import DigestAlgorithm, SignatureMethod
from signxml.verifier import SignatureConfiguration, XMLVerifier

from app.identity.sso.saml.names import SIGNATURE
from app.identity.sso.saml.xml import ResponseRefused, copy_as_root, find_children, get_only_child

_EXCLUSIVE_C14N = "http://www.w3.org/2001/10/xml-exc-c14n#"
_ENVELOPED_SIGNATURE = "http://www.w3.org/2000/09/xmldsig#enveloped-signature"

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
DIGEST_METHODS = frozenset({DigestAlgorithm.SHA256, DigestAlgorithm.SHA384, DigestAlgorithm.SHA512})
_METHOD_NAMES = frozenset(method.value for method in SIGNATURE_METHODS)
_DIGEST_NAMES = frozenset(digest.value for digest in DIGEST_METHODS)


def is_signed(element: etree._Element) -> bool:
    """Return whether the element itself contains a signature, which may be invalid."""
    return bool(find_children(element, SIGNATURE, "Signature"))


def verify(element: etree._Element, certificates: Sequence[x509.Certificate]) -> etree._Element:
    """Verify the signature of an element, and return the element parsed from the signed bytes.

    The signature must be a direct child of the element and refer to the element's `ID`. It must
    have been created with the key of one of the certificates. The validity periods of the
    certificates are ignored (SAML V2.0 Metadata Interoperability Profile, 2.5.1). Raises
    `ResponseRefused` if the signature is missing, invalid or not in the form that SAML uses.
    """
    root = copy_as_root(element)
    signature = get_only_child(root, SIGNATURE, "Signature")
    _check_form(signature, root.get("ID"))
    # The library must not use a key or a certificate from the message.
    for key_info in find_children(signature, SIGNATURE, "KeyInfo"):
        signature.remove(key_info)
    for certificate in certificates:
        verified_element = _verify_with_certificate(root, certificate)
        if verified_element is not None:
            return verified_element
    raise ResponseRefused("no configured key created this signature")


def _verify_with_certificate(
    root: etree._Element, certificate: x509.Certificate
) -> etree._Element | None:
    config = SignatureConfiguration(
        location="./",
        expect_references=1,
        signature_methods=SIGNATURE_METHODS,
        digest_algorithms=DIGEST_METHODS,
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
    signed_element = result.signed_xml
    if signed_element.tag != root.tag or signed_element.get("ID") != root.get("ID"):
        return None
    return signed_element


def _check_form(signature: etree._Element, element_id: str | None) -> None:
    """Raise `ResponseRefused` for a signature that saml-core 5.4 does not allow.

    This check runs before any cryptography.
    """
    signed_info = get_only_child(signature, SIGNATURE, "SignedInfo")
    if find_children(signature, SIGNATURE, "Object"):
        raise ResponseRefused("the signature contains an object")
    if _get_algorithm(signed_info, "CanonicalizationMethod") != _EXCLUSIVE_C14N:
        raise ResponseRefused("the canonicalization is not exclusive")
    if _get_algorithm(signed_info, "SignatureMethod") not in _METHOD_NAMES:
        raise ResponseRefused("the signature algorithm is not accepted")
    reference = get_only_child(signed_info, SIGNATURE, "Reference")
    if not element_id or reference.get("URI") != f"#{element_id}":
        raise ResponseRefused("the signature does not refer to the element that contains it")
    if _get_algorithm(reference, "DigestMethod") not in _DIGEST_NAMES:
        raise ResponseRefused("the digest algorithm is not accepted")
    transforms = [
        step.get("Algorithm") for step in get_only_child(reference, SIGNATURE, "Transforms")
    ]
    if transforms != [_ENVELOPED_SIGNATURE, _EXCLUSIVE_C14N]:
        raise ResponseRefused(
            "the transforms must be enveloped signature and exclusive canonicalization"
        )


def _get_algorithm(parent: etree._Element, name: str) -> str | None:
    algorithm: str | None = get_only_child(parent, SIGNATURE, name).get("Algorithm")
    return algorithm
