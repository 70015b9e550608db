"""Signature wrapping: a valid signature is kept, and the content is placed elsewhere.

XSW 1 to 8 as named by Somorovsky et al. (On Breaking SAML: Be Whoever You Want to Be, USENIX
Security 2012) and created by SAML Raider. Each attack is tried against both defenses: only one
assertion may be in a response; and, with that check turned off, only signed content is read.
"""

import contextlib
from collections.abc import Callable

import pytest
from lxml import etree

from app.identity.sso.saml import response
from app.identity.sso.saml.xml import ResponseRefused
from tests.factories.saml import NS, Forge, assertion, copy_element, find, get_refusal, verify

EVIL = "eve"


def _unsigned(element: etree._Element) -> etree._Element:
    copied = copy_element(element)
    copied.remove(find(copied, "ds:Signature"))
    return copied


def _evil(element: etree._Element, identifier: str | None) -> etree._Element:
    """Return a copy that names another person, with another id unless `identifier` is None."""
    copied = copy_element(element)
    find(copied, "saml:NameID").text = EVIL
    if identifier is not None:
        copied.set("ID", identifier)
    return copied


def _replace_assertion(
    root: etree._Element, identifier: str | None
) -> tuple[etree._Element, etree._Element]:
    """Replace the assertion by a forged one that has its signature; return the original and it."""
    original = assertion(root)
    evil = _evil(original, identifier)
    root.replace(original, evil)
    return original, evil


def xsw1(root: etree._Element, identifier: str | None) -> etree._Element:
    """Move the signed response into its own signature, inside a forged response."""
    evil = _evil(root, identifier)
    find(evil, "ds:Signature").append(_unsigned(root))
    return evil


def xsw2(root: etree._Element, identifier: str | None) -> etree._Element:
    """Put the signed response before a detached signature, inside a forged response."""
    evil = _evil(root, identifier)
    find(evil, "ds:Signature").addprevious(_unsigned(root))
    return evil


def xsw3(root: etree._Element, identifier: str | None) -> etree._Element:
    """Put a forged assertion before the signed one."""
    evil = _unsigned(_evil(assertion(root), identifier))
    assertion(root).addprevious(evil)
    return root


def xsw4(root: etree._Element, identifier: str | None) -> etree._Element:
    """Put the signed assertion into a forged one."""
    original = assertion(root)
    evil = _unsigned(_evil(original, identifier))
    root.replace(original, evil)
    evil.append(original)
    return root


def xsw5(root: etree._Element, identifier: str | None) -> etree._Element:
    """Give the signature to a forged assertion, and put the signed one at the end."""
    original, _ = _replace_assertion(root, identifier)
    root.append(_unsigned(original))
    return root


def xsw6(root: etree._Element, identifier: str | None) -> etree._Element:
    """Give the signature to a forged assertion, and put the signed one into the signature."""
    original, evil = _replace_assertion(root, identifier)
    find(evil, "ds:Signature").append(_unsigned(original))
    return root


def xsw7(root: etree._Element, identifier: str | None) -> etree._Element:
    """Put a forged assertion into extensions, which may contain anything."""
    evil = _unsigned(_evil(assertion(root), identifier))
    extensions = etree.Element(f"{{{NS['samlp']}}}Extensions")
    extensions.append(evil)
    assertion(root).addprevious(extensions)
    return root


def xsw8(root: etree._Element, identifier: str | None) -> etree._Element:
    """Give the signature to a forged assertion, and put the signed one into an object of it."""
    original, evil = _replace_assertion(root, identifier)
    holder = etree.SubElement(find(evil, "ds:Signature"), f"{{{NS['ds']}}}Object")
    holder.append(_unsigned(original))
    return root


def in_attribute(root: etree._Element, identifier: str | None) -> etree._Element:
    """Give the signature to a forged assertion; put the signed one into an attribute value."""
    original, evil = _replace_assertion(root, identifier)
    find(evil, "saml:AttributeValue").append(_unsigned(original))
    return root


def other_id(root: etree._Element, identifier: str | None) -> etree._Element:
    """Give the signed element another id attribute, which some libraries read first."""
    original, evil = _replace_assertion(root, None)
    hidden = _unsigned(original)
    hidden.set("Id", hidden.attrib.pop("ID"))
    find(evil, "saml:AttributeValue").append(hidden)
    return root


Attack = Callable[[etree._Element, str | None], etree._Element]
ON_RESPONSES: list[Attack] = [xsw1, xsw2]
ON_ASSERTIONS: list[Attack] = [xsw3, xsw4, xsw5, xsw6, xsw7, xsw8, in_attribute, other_id]
EVERY = [(attack, ("response",)) for attack in ON_RESPONSES] + [
    (attack, sign)
    for attack in ON_ASSERTIONS
    for sign in (("assertion",), ("assertion", "response"))
]


def _name(value: object) -> str:
    return getattr(value, "__name__", None) or "+".join(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(("attack", "sign"), EVERY, ids=_name)
@pytest.mark.parametrize("identifier", ["_evil", None], ids=["other-id", "same-id"])
@pytest.mark.parametrize("shape", [True, False], ids=["both-locks", "second-lock"])
def test_a_wrapped_signature_is_refused(
    attack: Attack,
    sign: tuple[str, ...],
    identifier: str | None,
    shape: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forge = Forge(sign=sign)
    root = attack(forge.make(), identifier)
    assert EVIL in etree.tostring(root).decode()
    if not shape:
        monkeypatch.setattr(response, "_check_shape", lambda _: None)
    subject = None
    with contextlib.suppress(ResponseRefused):
        subject = verify(root, forge.expected()).subject
    # Without the first defense, an attack may leave the signed assertion in its place. Reading that
    # one does no harm.
    assert subject != EVIL
    if shape:
        assert subject is None


@pytest.mark.parametrize("sign", ["assertion", "response"])
def test_a_second_signed_assertion_is_refused(sign: str) -> None:
    forge = Forge()
    second = assertion(forge.with_changes(assertion_id="_second", subject="bob").make())
    root = forge.make()
    assertion(root).addnext(second)
    if sign == "response":
        root = forge.sign_element(root, "response")
    assert "2 assertions" in get_refusal(root, forge.expected())


def test_ids_are_unique() -> None:
    forge = Forge()
    root = forge.make()
    find(root, "samlp:StatusCode").set("Id", "_assertion")
    assert "not unique" in get_refusal(root, forge.expected())
