"""The SQL of the operators' pages works for the owner of the database."""

import re

from sqlalchemy import create_engine, text

from tests.docs.pasting import ROOT
from tests.factories import Org
from tests.factories.invoices import insert_invoices


def _run_block(org: Org, page: str, marker: str, **replacements: str) -> list[int]:
    """Run the block of a page that contains `marker`, roll it back, and return the row counts."""
    blocks = re.findall(r"```sql\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    (block,) = [block for block in blocks if marker in block]
    for written, ours in replacements.items():
        assert written in block
        block = block.replace(written, ours)
    statements = re.sub(r"--.*|BEGIN;|COMMIT;", "", block).split(";")
    engine = create_engine(org.app.config["SQLALCHEMY_DATABASE_URI"])
    with engine.connect() as connection:
        results = [connection.execute(text(sql)).rowcount for sql in statements if sql.strip()]
        connection.rollback()
    engine.dispose()
    return results


def test_old_invoices_can_be_deleted(org: Org) -> None:
    ids = insert_invoices(org)
    page, own = "docs/operators/invoices.md", f"organization_id = '{org.id}'"
    counts = _run_block(org, page, "DELETE FROM", **{"issued_at < '2016-01-01'": own})
    assert max(counts) == len(ids)


def test_documents_can_be_indexed_again(org: Org) -> None:
    page = "docs/operators/documents.md"
    counts = _run_block(org, page, "INSERT INTO", **{"'demo'": f"'{org.slug}'"})
    assert max(counts) == 1
