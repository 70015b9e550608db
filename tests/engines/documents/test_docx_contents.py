"""Hidden text, equations and checkboxes in Word documents."""

from pathlib import Path

from docx.document import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from app.engines.documents.media import DOCX
from tests.engines.documents import samples
from tests.engines.documents.parsing import parse_data
from tests.engines.documents.test_docx_fields import code, mark, run, text_of


def test_hidden_text_is_left_out(tmp_path: Path) -> None:
    text = text_of(
        tmp_path,
        run("shown ") + run("hidden", "<w:vanish/>") + run("again", '<w:vanish w:val="0"/>'),
        run("hidden", '<w:vanish w:val="true"/>'),
        "<w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>" + run("the mark alone is hidden"),
    )
    assert text == "shown again\n\nthe mark alone is hidden"


def test_texts_at_different_places_stay_apart(tmp_path: Path) -> None:
    box = f"<w:r><w:pict><w:txbxContent><w:p>{run('box')}</w:p></w:txbxContent></w:pict></w:r>"
    ruby = f"<w:rt>{run('とうきょう')}</w:rt><w:rubyBase>{run('東京')}</w:rubyBase>"
    text = text_of(
        tmp_path,
        run("left") + "<w:r><w:ptab w:alignment='right'/></w:r>" + run("right"),
        run("anchor") + box + run("more"),
        box + f"<w:r><w:ruby>{ruby}</w:ruby></w:r>",
    )
    assert text == "left\tright\nanchor\nbox\nmore\nbox\n東京"


def _term(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def test_equations_are_written_on_one_line(tmp_path: Path) -> None:
    square = f"<m:sSup><m:e>{_term('b')}</m:e><m:sup>{_term('2')}</m:sup></m:sSup>"
    root = f"<m:rad><m:deg/><m:e>{square}{_term('-4ac')}</m:e></m:rad>"
    fraction = f"<m:f><m:num>{_term('-b±')}{root}</m:num><m:den>{_term('2a')}</m:den></m:f>"
    total = (
        '<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub/>'
        f"<m:sup>{_term('n')}</m:sup><m:e>{_term('x')}</m:e></m:nary>"
    )
    matrix = f"<m:m><m:mr><m:e>{_term('1')}</m:e><m:e>{_term('0')}</m:e></m:mr></m:m>"
    sides = f"<m:d><m:dPr/><m:e>{matrix}</m:e></m:d>"
    text = text_of(
        tmp_path,
        f"{run('so ')}<m:oMath>{_term('x=')}{fraction}</m:oMath>{run(' holds')}",
        f"<m:oMathPara><m:oMath>{total}{sides}</m:oMath></m:oMathPara>",
    )
    assert text == "so x=(-b±√(b^2-4ac))/(2a) holds\n∑^n x(1 0)"


def test_text_that_a_style_hides_is_left_out(tmp_path: Path) -> None:
    def fill(document: Document) -> None:
        hidden = document.styles.add_style("Secret", WD_STYLE_TYPE.CHARACTER)
        hidden.font.hidden = True
        paragraph = document.styles.add_style("Notes", WD_STYLE_TYPE.PARAGRAPH)
        paragraph.font.hidden = True
        inherited = document.styles.add_style("More notes", WD_STYLE_TYPE.PARAGRAPH)
        inherited.base_style = paragraph
        line = document.add_paragraph("shown")
        line.add_run(" no", style=hidden)
        document.add_paragraph("no", style=paragraph)
        document.add_paragraph("no", style=inherited).add_run("but this").font.hidden = False
        table = document.add_table(2, 1)
        table.cell(0, 0).text, table.cell(1, 0).text = "no", "row"
        properties = f"<w:trPr {nsdecls('w')}><w:hidden/></w:trPr>"
        table.rows[0]._tr.insert(0, parse_xml(properties))

    text = parse_data(tmp_path, samples.word(fill), DOCX).text
    assert text.split() == ["shown", "but", "this", "row"]


def test_control_characters_are_left_out_and_accents_composed(tmp_path: Path) -> None:
    """XML allows the control characters after DEL."""
    text = text_of(tmp_path, run("a\x7fb\x9fc cafe\u0301 ") + run("Zu") + run("\u0308rich"))
    assert text == "abc café Zürich"


def test_checkboxes_become_symbols(tmp_path: Path) -> None:
    def sym(char: str, font: str = "Wingdings") -> str:
        return f'<w:r><w:sym w:font="{font}" w:char="{char}"/></w:r>'

    def field(inner: str) -> str:
        data = f"<w:ffData><w:checkBox>{inner}</w:checkBox></w:ffData>"
        return mark("begin", data) + code(" FORMCHECKBOX ") + mark("end")

    def control(checked: str, inner: str = "") -> str:
        box = f'<w14:checkbox><w14:checked w14:val="{checked}"/></w14:checkbox>'
        content = f"<w:sdtContent><w:r>{inner}</w:r></w:sdtContent>"
        return f"<w:sdt><w:sdtPr>{box}</w:sdtPr>{content}</w:sdt>"

    text = text_of(
        tmp_path,
        sym("F0FE") + run(" yes ") + sym("F0A8") + run(" no ") + sym("F0FD") + sym("00FC"),
        sym("F052", "Wingdings 2") + run(" yes ") + sym("F0A3", "Wingdings 2") + run(" no"),
        run("þ", '<w:rFonts w:ascii="Wingdings"/>') + run(" þ "),
        run("\uf0a8", '<w:rFonts w:ascii="Wingdings"/>') + run(" typed"),
        field('<w:default w:val="0"/><w:checked/>') + field('<w:default w:val="1"/>') + field(""),
        control("1") + control("0") + control("1", "<w:t>☑</w:t>"),
    )
    assert text.split("\n") == ["☑ yes ☐ no ☒✓", "☑ yes ☐ no", "☑ þ ", "☐ typed", "☒☒☐", "☒☐☑"]


def test_invalid_symbols_are_left_out(tmp_path: Path) -> None:
    attributes = ("", 'w:char="xyz"', 'w:char="-5"')
    symbols = "".join(f"<w:r><w:sym {attribute}/></w:r>" for attribute in attributes)
    assert text_of(tmp_path, run("before") + symbols + run(" after")) == "before after"
