"""HTML pages."""

from pathlib import Path

import pytest

from app.engines.documents import ParsedDocument, ParseFailed, parse
from tests.engines.documents.samples import stored


def read(folder: Path, markup: str | bytes) -> ParsedDocument:
    data = markup.encode() if isinstance(markup, str) else markup
    return parse(stored(folder, data), "text/html")


def test_what_a_reader_sees(tmp_path: Path) -> None:
    markup = """<!DOCTYPE html><html><head><title>No</title><style>p {}</style></head><body>
      <h1>Invoice   <em>17</em></h1><!-- gone --> <p>Dear
      customer,<br>thank&nbsp;you &amp; bye.</p>
      <script>alert(1)</script><div hidden>no</div><span style="Display : none">no</span>after
      <ul><li>one</li><li>two</li></ul>
      <table><tr><th>Item</th><th>Price</th></tr><tr><td>A</td><td>1</td></tr></table>
      <pre>  keep
   this</pre></body></html>"""
    assert read(tmp_path, markup).text == (
        "Invoice 17\n\nDear customer,\nthank\u00a0you & bye.\n\nafter\n\none\ntwo\n\n"
        "Item\tPrice\nA\t1\n\n  keep\n   this"
    )


@pytest.mark.parametrize(
    ("declaration", "encoding"),
    [
        ('<meta charset="utf-8">', "utf-8"),
        ("<meta charset=iso-8859-1>", "cp1252"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">', "koi8_r"),
        ('<meta charset="utf-16">', "utf-8"),
        ('<meta charset="no-such-thing">', "utf-8"),
        ("", "utf-8"),
        ("", "utf-16"),
    ],
)
def test_encodings(tmp_path: Path, declaration: str, encoding: str) -> None:
    text = "Просим оплатить сумму" if encoding == "koi8_r" else "Größe 5 €"
    if encoding.startswith("utf"):
        text += " №中"
    page = f"<html><head>{declaration}</head><body><p>{text}</p></body></html>"
    assert read(tmp_path, page.encode(encoding)).text == text


def test_nothing_is_fetched_and_no_entity_is_read(tmp_path: Path) -> None:
    secret = stored(tmp_path, b"the secret", "secret").as_uri()
    markup = (
        f'<!DOCTYPE html [<!ENTITY s SYSTEM "{secret}">]><link rel=stylesheet href="{secret}">'
        f'<iframe src="{secret}">x</iframe><p>before &s; after</p>'
    )
    text = read(tmp_path, markup).text
    assert "before" in text
    assert "the secret" not in text


@pytest.mark.parametrize("markup", ["<p></p>", "<script>x</script>", "<!-- only -->", "<html>"])
def test_nothing_to_see(tmp_path: Path, markup: str) -> None:
    with pytest.raises(ParseFailed) as caught:
        read(tmp_path, markup)
    assert caught.value.code == "empty_document"


def test_two_hundred_thousand_elements_inside_one_another(tmp_path: Path) -> None:
    with pytest.raises(ParseFailed) as caught:
        read(tmp_path, "<div>" * 200_000 + "deep")
    assert caught.value.code == "unreadable"
    assert read(tmp_path, "<div>" * 1000 + "deep").text == "deep"


def test_broken_markup(tmp_path: Path) -> None:
    markup = b"<p>one<p>two</i></b><table><td>x\x00y &#0; &#xD800; &bogus;"
    words = read(tmp_path, markup).text.split()
    assert words[:3] == ["one", "two", "x\ufffdy"]
    assert words[-1] == "&bogus;"
