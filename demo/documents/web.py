"""Render invoices as HTML pages, written from left to right or from right to left."""

from html import escape

from demo.documents.model import Invoice, Party
from demo.documents.wording import (
    format_iban,
    get_wording,
    list_column_titles,
    list_heading_details,
    list_line_cells,
    list_totals,
)

RIGHT_TO_LEFT = {"ar", "he"}
STYLE = (
    "body{font-family:sans-serif;margin:3em;max-width:46em}"
    "table{border-collapse:collapse;width:100%;margin:1.5em 0}"
    "th,td{border:1px solid #999;padding:.4em .6em;text-align:start}"
    "th{background:#eee}"
)


def render_html_invoice(invoice: Invoice, encoding: str) -> bytes:
    """Render an invoice as an HTML page that declares its encoding in a `meta` element."""
    words = get_wording(invoice.locale)
    title = escape(f"{words['invoice']} {invoice.number}")
    direction = "rtl" if invoice.language in RIGHT_TO_LEFT else "ltr"
    head = f'<head><meta charset="{encoding}"><title>{title}</title><style>{STYLE}</style></head>'
    page = (
        f'<!DOCTYPE html>\n<html lang="{invoice.language}" dir="{direction}">\n{head}\n<body>\n'
        f"{_build_body(invoice)}\n</body>\n</html>\n"
    )
    return page.encode(encoding)


def _build_body(invoice: Invoice) -> str:
    words = get_wording(invoice.locale)
    parts = [f"<h1>{escape(words['invoice'])}</h1>", _build_party(invoice.supplier)]
    parts.append(_build_definitions(list_heading_details(invoice)))
    if invoice.customer:
        parts += [f"<h2>{escape(words['customer'])}</h2>", _build_party(invoice.customer)]
    rows = [
        _build_row("th", list_column_titles(invoice)),
        *(_build_row("td", c) for c in list_line_cells(invoice)),
    ]
    parts.append("<table>\n" + "\n".join(rows) + "\n</table>")
    parts.append(_build_definitions(list_totals(invoice)))
    if invoice.iban:
        parts.append(f"<p>{escape(words['iban'])}: <bdi>{format_iban(invoice.iban)}</bdi></p>")
    if invoice.paid:
        parts.append(f"<p><strong>{escape(words['paid'])}</strong></p>")
    parts.append(f"<p>{escape(invoice.note)}</p>")
    return "\n".join(parts)


def _build_party(party: Party) -> str:
    lines = "<br>".join(escape(text) for text in (*party.address, party.email) if text)
    return f"<p><strong>{escape(party.name)}</strong><br>{lines}</p>"


def _build_definitions(pairs: list[tuple[str, str]]) -> str:
    rows = (f"<tr><th>{escape(label)}</th><td>{escape(text)}</td></tr>" for label, text in pairs)
    return "<table>\n" + "\n".join(rows) + "\n</table>"


def _build_row(element: str, cells: tuple[str, ...]) -> str:
    return "<tr>" + "".join(f"<{element}>{escape(c)}</{element}>" for c in cells) + "</tr>"
