"""Create presentations, OpenDocument texts and RTF."""

import io
from typing import Any

import odfdo
import pptx
from pptx.util import Inches

RTF = (
    r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Arial;}}{\info{\title Hidden title}}"
    r"\pard M\'fcller GmbH\par Rent: 500 \u8364?\par\u-10179?\u-8704?\par"
    r"\trowd\cellx1000\cellx2000\intbl Item\cell Price\cell\row"
    r"\trowd\cellx1000\cellx2000\intbl a|b\cell 7\cell\row\pard"
    r"{\pict\pngblip " + "89504e470d0a1a0a" * 64 + r"}The end\par}"
).encode("ascii")


def presentation(*, hidden: bool = True) -> bytes:
    """Return slides with a title, a text box, a group, a table, a picture's place and nothing."""
    deck: Any = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[5])
    first.shapes.title.text = "Quarterly report"
    box = first.shapes.add_textbox(0, 0, Inches(3), Inches(1)).text_frame
    box.text = "Revenue rose\vby a fifth"
    box.add_paragraph().text = "Größe"
    inner = first.shapes.add_group_shape().shapes.add_textbox(0, 0, Inches(1), Inches(1))
    inner.text_frame.text = "in a group"
    table = first.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(2)).table
    for place, value in (((0, 0), "Item"), ((0, 1), "Price"), ((1, 0), "Bolts\nM8"), ((1, 1), "7")):
        table.cell(*place).text = value
    first.notes_slide.notes_text_frame.text = "Do not mention the loss"
    deck.slides.add_slide(deck.slide_layouts[6])
    if hidden:
        secret = deck.slides.add_slide(deck.slide_layouts[5])
        secret.shapes.title.text = "Secret"
        secret.element.set("show", "0")
    last = deck.slides.add_slide(deck.slide_layouts[5])
    last.shapes.title.text = "Thank you"
    return _save(deck)


def empty_presentation() -> bytes:
    """Return a presentation without slides."""
    return _save(pptx.Presentation())


def open_document() -> bytes:
    """Return a text with a heading, a table, a note, an annotation and a hidden paragraph."""
    document: Any = odfdo.Document("text")
    body = document.body
    body.clear()
    body.append(odfdo.Header(1, "Lease"))
    table = odfdo.Table("Prices")
    for values in (("Item", "Price"), ("Bolts", "7")):
        row = odfdo.Row()
        for value in values:
            row.append_cell(odfdo.Cell(text=value))
        table.append_row(row)
    body.append(table)
    paragraph = odfdo.Paragraph("The rent is due")
    paragraph.insert_note(after="rent", note_id="n1", citation="1", body="See section 2")
    paragraph.insert_annotation(after="due", body="A remark", creator="Ann")
    body.append(paragraph)
    body.append(odfdo.Paragraph("a   b\tc\nd"))
    hidden = odfdo.Style("text", name="Hidden", area="text", display="none")
    document.insert_style(hidden, automatic=True)
    body.append(odfdo.Paragraph("Not shown", style="Hidden"))
    return _save(document)


def _save(file: Any) -> bytes:
    out = io.BytesIO()
    file.save(out)
    return out.getvalue()
