"""Malicious XML documents; each must be refused quickly while it is parsed."""

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from app.identity.sso.saml import response, xml
from app.identity.sso.saml.xml import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_ELEMENTS,
    InvalidDocument,
    ResponseRefused,
)
from tests.factories.saml import Forge

LAUGHS = "<!DOCTYPE x [<!ENTITY a0 'ha'>{}]>".format(
    "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 10))
)
DOCUMENTS = {
    "doctype": "<!DOCTYPE x><x/>",
    "billion-laughs": LAUGHS + "<x>&a9;</x>",
    "laughs-in-an-attribute": LAUGHS + "<x a='&a9;'/>",
    "quadratic": f"<!DOCTYPE x [<!ENTITY a '{'a' * 50_000}'>]><x>{'&a;' * 5000}</x>",
    "external-file": "<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><x>&a;</x>",
    "external-http": "<!DOCTYPE x [<!ENTITY a SYSTEM 'http://127.0.0.1:1/'>]><x>&a;</x>",
    "external-dtd": "<!DOCTYPE x SYSTEM 'http://127.0.0.1:1/x.dtd'><x/>",
    "parameter-entity": "<!DOCTYPE x [<!ENTITY % a SYSTEM 'http://127.0.0.1:1/'> %a;]><x/>",
    "unknown-entity": "<x>&nbsp;</x>",
    "instruction": "<?xml-stylesheet href='http://127.0.0.1:1/'?><x/>",
    "instruction-inside": "<x><?php echo 1 ?></x>",
    "comment": "<x><!-- a --></x>",
    "cdata": "<x><![CDATA[a]]></x>",
    "two-roots": "<x/><x/>",
    "not-closed": "<x>",
    "no-xml": "hello",
    "nothing": "",
    "only-a-declaration": "<?xml version='1.0'?>",
    "nul": "<x>\x00</x>",
    "nul-reference": "<x>&#0;</x>",
    "unbound-prefix-entity": "<x a='&b;'/>",
    "deep": "<x>" * (MAX_DEPTH + 1) + "</x>" * (MAX_DEPTH + 1),
    "very-deep": "<x>" * 50_000 + "</x>" * 50_000,
    "many": f"<x>{'<y/>' * MAX_ELEMENTS}</x>",
    "attributes": "<x " + " ".join(f"a{n}=''" for n in range(20_000)) + "/>",
    "namespaces": "<x " + " ".join(f"xmlns:a{n}='u'" for n in range(9_000)) + "/>",
    "namespaces-by-level": "".join(
        "<x " + " ".join(f"xmlns:a{level}-{n}='u'" for n in range(40)) + ">" for level in range(3)
    )
    + "</x>" * 3,
    "large": f"<x>{'a' * MAX_BYTES}</x>",
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_are_refused(name: str) -> None:
    began = time.thread_time()
    with pytest.raises(InvalidDocument) as caught:
        xml.parse(DOCUMENTS[name].encode())
    assert str(caught.value).endswith(".")
    assert time.thread_time() - began < 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "cp037", "utf-7"])
def test_a_document_type_in_another_encoding_is_refused(encoding: str) -> None:
    document = f"<?xml version='1.0' encoding='{encoding}'?>{DOCUMENTS['external-file']}"
    with pytest.raises(InvalidDocument):
        xml.parse(document.encode(encoding))


def test_the_declared_encoding_is_ignored() -> None:
    """As UTF-7 this would be a document type; it is read as UTF-8."""
    root = xml.parse(b"<?xml version='1.0' encoding='utf-7'?><x>+ADw-y/+AD4-</x>")
    assert (root.text, len(root)) == ("+ADw-y/+AD4-", 0)


def test_valid_documents_are_accepted() -> None:
    assert xml.parse(b"\xef\xbb\xbf<?xml version='1.0' encoding='UTF-8'?>\n<x/>\n").tag == "x"
    assert xml.parse(b"<x>a<!-- b -->c<y/></x>", allow_comments=True).text == "ac"
    siblings = "<y xmlns:xs='a' xmlns:xsi='b'/>" * 1_000
    assert len(xml.parse(f"<x xmlns:z='c'>{siblings}</x>".encode())) == 1_000
    nested = "<x>" * MAX_DEPTH + "</x>" * MAX_DEPTH
    assert xml.parse(nested.encode()).tag == "x"


@given(
    st.binary(max_size=300) | st.text(alphabet="<>/!?-[]&;# xa='\"", max_size=60).map(str.encode)
)
def test_any_bytes_are_parsed_or_refused(data: bytes) -> None:
    refusal = None
    try:
        root = xml.parse(data)
    except InvalidDocument as found:
        refusal = str(found)
    assert refusal or isinstance(root.tag, str)


@pytest.mark.parametrize("sign", ["assertion", "response"])
@pytest.mark.parametrize("comment", ["<!---->", "<!-- x -->", "<?x?>", "<![CDATA[]]>"])
def test_a_comment_does_not_truncate_a_name(comment: str, sign: str) -> None:
    """A comment can be added after signing, and some parsers then read only half of a name.

    See CVE-2017-11427 and similar ones. Such a document is refused here, and a parsed one would
    have the whole name.
    """
    forge = Forge(subject="ada@example.com.evil.example", sign=(sign,))
    text = etree.tostring(forge.make()).decode()
    bent = text.replace("example.com.evil", f"example.com{comment}.evil")
    assert bent != text
    with pytest.raises(InvalidDocument):
        response.parse(bent.encode())
    # If it were accepted, the result would be the whole name or none.
    with contextlib.suppress(ResponseRefused):
        identity = response.verify(etree.fromstring(bent), forge.expected())
        assert identity.subject == "ada@example.com.evil.example"


def test_other_documents_are_not_responses() -> None:
    for document in (b"<x/>", b"<Response/>", b'<a:Response xmlns:a="urn:x"/>'):
        with pytest.raises(InvalidDocument, match="not a SAML response"):
            response.parse(document)
