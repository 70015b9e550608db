"""Draw contracts as PDF with several pages."""

from io import BytesIO
from xml.sax.saxutils import escape

from reportlab.lib import colors
from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    Flowable,
    PageBreak,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    Table,
    TableStyle,
)

from demo.documents.model import Block, Contract, Signature

MARGIN = 72.0
INK = colors.black
TEXT = ParagraphStyle(
    "text", fontName="Times-Roman", fontSize=11.5, leading=17, alignment=TA_JUSTIFY, spaceAfter=9
)
HEADING = ParagraphStyle(
    "heading", TEXT, fontName="Times-Bold", fontSize=13, spaceBefore=10, spaceAfter=5
)
TITLE = ParagraphStyle(
    "title", TEXT, fontName="Times-Bold", fontSize=26, leading=32, alignment=TA_CENTER
)
GRID = TableStyle(
    [
        ("GRID", (0, 0), (-1, -1), 0.5, colors.HexColor("#555555")),
        ("BACKGROUND", (0, 0), (-1, 0), colors.HexColor("#e8e8e8")),
        ("FONT", (0, 0), (-1, -1), "Times-Roman", 10.5),
        ("FONT", (0, 0), (-1, 0), "Times-Bold", 10.5),
    ]
)
SIGNED = ParagraphStyle("signed", TEXT, fontName="Times-Italic", fontSize=17, leading=22)


def draw_contract(contract: Contract) -> bytes:
    """Draw a contract on A4 pages with a cover, running footers, and signatures at the end."""
    target = BytesIO()
    template = SimpleDocTemplate(
        target,
        pagesize=A4,
        invariant=1,
        title=contract.title,
        author=contract.parties[0],
        leftMargin=MARGIN,
        rightMargin=MARGIN,
        topMargin=MARGIN,
        bottomMargin=MARGIN,
    )
    story = [flowable for block in contract.blocks for flowable in _build_flowables(block)]
    for signature in contract.signatures:
        story.extend(_build_signature(signature))

    def footer(canvas: Canvas, _: object) -> None:
        canvas.setFont("Times-Roman", 9)
        canvas.drawString(MARGIN, 40, contract.title)
        canvas.drawRightString(A4[0] - MARGIN, 40, str(canvas.getPageNumber()))

    template.build(story, onFirstPage=footer, onLaterPages=footer)
    return target.getvalue()


def _build_flowables(block: Block) -> list[Flowable]:
    if block.kind == "break":
        return [PageBreak()]
    if block.kind == "title":
        return [Spacer(1, 130), Paragraph(escape(block.text), TITLE), Spacer(1, 50)]
    if block.kind == "table":
        share = (A4[0] - 2 * MARGIN) / (len(block.rows[0]) + 1)
        widths = [2 * share, *[share] * (len(block.rows[0]) - 1)]
        return [Table([list(row) for row in block.rows], widths, style=GRID), Spacer(1, 12)]
    return [Paragraph(escape(block.text), HEADING if block.kind == "heading" else TEXT)]


def _build_signature(signature: Signature) -> list[Flowable]:
    line = Table([[""]], [230], [4], hAlign="LEFT", style=[("LINEBELOW", (0, 0), (0, 0), 0.8, INK)])
    below = f"{signature.name}, {signature.role}, for {signature.party}, {signature.date}"
    name = Paragraph(escape(signature.name), SIGNED)
    return [Spacer(1, 40), name, line, Spacer(1, 6), Paragraph(escape(below), TEXT)]
