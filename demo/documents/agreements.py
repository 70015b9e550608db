"""Draw contracts as PDF files with several pages."""

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
TEXT_STYLE = ParagraphStyle(
    "text", fontName="Times-Roman", fontSize=11.5, leading=17, alignment=TA_JUSTIFY, spaceAfter=9
)
HEADING_STYLE = ParagraphStyle(
    "heading", TEXT_STYLE, fontName="Times-Bold", fontSize=13, spaceBefore=10, spaceAfter=5
)
TITLE_STYLE = ParagraphStyle(
    "title", TEXT_STYLE, fontName="Times-Bold", fontSize=26, leading=32, alignment=TA_CENTER
)
GRID_STYLE = TableStyle(
    [
        ("GRID", (0, 0), (-1, -1), 0.5, colors.HexColor("#555555")),
        ("BACKGROUND", (0, 0), (-1, 0), colors.HexColor("#e8e8e8")),
        ("FONT", (0, 0), (-1, -1), "Times-Roman", 10.5),
        ("FONT", (0, 0), (-1, 0), "Times-Bold", 10.5),
    ]
)
SIGNATURE_STYLE = ParagraphStyle(
    "signed", TEXT_STYLE, fontName="Times-Italic", fontSize=17, leading=22
)


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

    def draw_footer(canvas: Canvas, _: object) -> None:
        canvas.setFont("Times-Roman", 9)
        canvas.drawString(MARGIN, 40, contract.title)
        canvas.drawRightString(A4[0] - MARGIN, 40, str(canvas.getPageNumber()))

    template.build(story, onFirstPage=draw_footer, onLaterPages=draw_footer)
    return target.getvalue()


def _build_flowables(block: Block) -> list[Flowable]:
    if block.kind == "break":
        return [PageBreak()]
    if block.kind == "title":
        return [Spacer(1, 130), Paragraph(escape(block.text), TITLE_STYLE), Spacer(1, 50)]
    if block.kind == "table":
        unit_width = (A4[0] - 2 * MARGIN) / (len(block.rows[0]) + 1)
        widths = [2 * unit_width, *[unit_width] * (len(block.rows[0]) - 1)]
        return [Table([list(row) for row in block.rows], widths, style=GRID_STYLE), Spacer(1, 12)]
    return [Paragraph(escape(block.text), HEADING_STYLE if block.kind == "heading" else TEXT_STYLE)]


def _build_signature(signature: Signature) -> list[Flowable]:
    line = Table([[""]], [230], [4], hAlign="LEFT", style=[("LINEBELOW", (0, 0), (0, 0), 0.8, INK)])
    caption = f"{signature.name}, {signature.role}, for {signature.party}, {signature.date}"
    name = Paragraph(escape(signature.name), SIGNATURE_STYLE)
    return [Spacer(1, 40), name, line, Spacer(1, 6), Paragraph(escape(caption), TEXT_STYLE)]
