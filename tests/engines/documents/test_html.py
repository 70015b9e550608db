"""Text extracted from HTML pages."""

from pathlib import Path

import pytest

from app.engines.documents import ParsedDocument
from tests.engines.documents.parsing import get_failure, parse_data
from tests.engines.documents.samples import stored


def read(folder: Path, markup: str | bytes) -> ParsedDocument:
    data = markup.encode() if isinstance(markup, str) else markup
    return parse_data(folder, data, "text/html")


def test_only_visible_text_is_extracted(tmp_path: Path) -> None:
    markup = """<!DOCTYPE html><html><head><title>No</title><style>p {}</style></head><body>
      <h1>Invoice   <em>17</em></h1><!-- gone --> <p>Dear
      customer,<br>thank&nbsp;you &amp; bye.</p>
      <script>alert(1)</script><div hidden>no</div><span style="Display : none">no</span>after
      <b style="color: red;visibility:hidden">no</b><b style="backface-visibility: hidden">all</b>
      <ul><li>one</li><li>two</li></ul>
      <table><tr><th>Item</th><th>Price</th></tr><tr><td>A</td><td>1</td></tr></table>
      <pre>  keep
   this</pre></body></html>"""
    assert read(tmp_path, markup).text == (
        "Invoice 17\n\nDear customer,\nthank\u00a0you & bye.\n\nafter all\n\none\ntwo\n\n"
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


def test_an_encoding_in_the_declaration_of_xml(tmp_path: Path) -> None:
    page = '<?xml version="1.0" encoding="iso-8859-2"?>\n<html><body>Částka</body></html>'
    assert read(tmp_path, page.encode("iso-8859-2")).text == "Částka"


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
    assert get_failure(read, tmp_path, markup).code == "empty_document"


def test_two_hundred_thousand_elements_inside_one_another(tmp_path: Path) -> None:
    assert get_failure(read, tmp_path, "<div>" * 200_000 + "deep").code == "unreadable"
    assert read(tmp_path, "<div>" * 1000 + "deep").text == "deep"


def test_broken_markup(tmp_path: Path) -> None:
    markup = b"<p>one<p>two</i></b><table><td>x\x00y &#0; &#xD800; &bogus;"
    words = read(tmp_path, markup).text.split()
    assert words[:3] == ["one", "two", "x\ufffdy"]
    assert words[-1] == "&bogus;"


def test_control_characters_are_left_out_and_accents_composed(tmp_path: Path) -> None:
    document = read(tmp_path, "<p>a\x07b\x1b[1mc\x85d cafe\u0301 Zu&#x308;rich</p>")
    assert document.text == "ab[1mc\nd café Zürich"


def test_empty_cells_keep_their_place_and_rows_stay_apart(tmp_path: Path) -> None:
    markup = """<p>before</p><table>
      <tr><th></th><th>2023</th><th>2024</th></tr>
      <tr><td>Rent</td><td></td><td>900</td></tr>
      <tr><td> </td><td>120</td><td></td></tr>
      <tr><td></td><td></td><td></td></tr>
      <tr><td></td><td></td><td>Total 1,020</td></tr>
    </table>after"""
    assert read(tmp_path, markup).text == (
        "before\n\n\t2023\t2024\nRent\t\t900\n\t120\t\n\t\tTotal 1,020\n\nafter"
    )


def test_cells_below_a_cell_that_spans_rows_keep_their_column(tmp_path: Path) -> None:
    markup = (
        "<table><tr><th rowspan=2>Item<th colspan=2>Price<th rowspan=2>Qty<tr><th>net<th>gross"
        "<tr><td>Bolts<td>1<td>2<td rowspan=99999>3<tr><td>Nuts<td>4<td>5</table>"
    )
    assert read(tmp_path, markup).text == (
        "Item\tPrice\tQty\n\tnet\tgross\nBolts\t1\t2\t3\nNuts\t4\t5"
    )


def test_formulas_are_shown_and_invisible_characters_are_left_out(tmp_path: Path) -> None:
    markup = (
        "<p>Super&shy;man&#x200B;!</p><math><mi>x</mi><mo>=</mo><mn>2</mn>"
        "<annotation>x=2</annotation></math> <ruby>東京<rp>(</rp><rt>とうきょう</rt></ruby>"
    )
    assert read(tmp_path, markup).text == "Superman!\n\nx=2 東京"


def test_paragraphs_and_breaks_inside_cells_are_spaces(tmp_path: Path) -> None:
    markup = """<table><tbody>
      <tr><td><p>Machine</p><p>parts</p></td><td><div>3</div></td></tr>
      <tr><td>Travel<br>to the site</td><td></td></tr>
      <tr hidden><td>no</td><td>no</td></tr>
      <tr><td style="display:none">no</td><td><pre>a
 b</pre></td><td><ul><li>5</li><li>6</li></ul></td></tr>
    </tbody></table>"""
    assert read(tmp_path, markup).text == "Machine parts\t3\nTravel to the site\t\na b\t5 6"


def test_tables_that_lay_out_a_page_keep_its_lines(tmp_path: Path) -> None:
    markup = """<table role="presentation"><tr><td></td><td><h1>Offer</h1><p>one</p><p>two</p></td>
      <td></td></tr><tr><td></td><td>below</td></tr></table>
      <table><tr><td></td><td><table><tr><td>a</td><td></td><td>1</td></tr></table></td></tr>
      <tr><td>end</td></tr></table>"""
    assert read(tmp_path, markup).text == "Offer\n\none\n\ntwo\n\nbelow\n\na\t\t1\n\nend"


@pytest.mark.parametrize(
    "markup",
    ["<td>a<td>b", "<tr><td>a<td>b", "<table><td>a<td>b</table>", "<table><tr><td>a<th>b"],
)
def test_incomplete_tables(tmp_path: Path, markup: str) -> None:
    assert read(tmp_path, markup).text.split() in (["a", "b"], ["ab"])


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<ol><li>a</li><li><p>b</p><p>more</p></li></ol>", "1. a\n\n2. b\n\nmore"),
        ("<ol start=7><li>a<ol type=a><li>b<li>c</ol></li><li>d</ol>", "7. a|a. b\nb. c|8. d"),
        ("<ol type=I><li value=9>a</li><li>b</li><li type=A>c</li></ol>", "IX. a\nX. b\nK. c"),
        ("<ol reversed><li>a</li><li>b</li></ol>", "2. a\n1. b"),
        ("<ol type=i start=0><li>a</li></ol><ol type=a start=28><li>b</ol>", "0. a|ab. b"),
        ("<ol start=x><li>a</li><li value='99999999999'>b</li></ol>", "1. a\n2. b"),
        ("<ol style='list-style: none'><li>a</ol><ul><li>b</ul>", "a|b"),
        ("<ol><li hidden>a</li><li></li><li>b</li><div><li>c</li></div></ol>", "2. b\nc"),
        ("<table><tr><th>x<td><ol><li>a<li>b</ol></table>", "x\t1. a 2. b"),
    ],
)
def test_items_of_ordered_lists_are_numbered(tmp_path: Path, markup: str, expected: str) -> None:
    assert read(tmp_path, markup).text == expected.replace("|", "\n\n")


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>Name:<input value='ACME  Ltd'>!</p>", "Name: ACME Ltd !"),
        ("<p>a<input type=hidden value=x><input type=checkbox value=y>b</p>", "ab"),
        ("<p>Land<select><option>A<option selected>DE<option>F</select></p>", "Land DE"),
        ("<p>Land<select><option>A</option><option>B</option></select>.</p>", "Land A ."),
        ("<p>a<select hidden><option>A</select><select></select>b</p>", "ab"),
        ("<pre>a<input value=b></pre>", "a b "),
    ],
)
def test_values_of_form_controls_are_shown(tmp_path: Path, markup: str, expected: str) -> None:
    assert read(tmp_path, markup).text == expected
