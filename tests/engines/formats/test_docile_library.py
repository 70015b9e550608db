"""The library of the DocILE benchmark reads what is exported for it."""

import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

from tests.engines.formats.documents import Documents, make_row, write
from tests.engines.formats.scripts import run_with_library
from tests.engines.formats.test_docile import BOX, CONTENTS, PAGES, TAGS

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / ".venv" / "docile"
SCRIPT = ROOT / "tools" / "docile" / "read.py"


def read(data: bytes, folder: Path, split: str = "train") -> list[dict[str, Any]]:
    """Unpack an archive, and return its documents as the library reads them."""
    assert FOLDER.is_dir(), "make .venv/docile.stamp installs the library"
    with zipfile.ZipFile(BytesIO(data)) as archive:
        archive.extractall(folder)
    return list(run_with_library(FOLDER, "-W", "error::UserWarning", SCRIPT, split, folder))


def test_the_library_reads_fields_and_line_items(tmp_path: Path) -> None:
    rows = [make_row(TAGS), make_row([], 2)]
    first, second = read(write("docile", rows, Documents(PAGES, CONTENTS)), tmp_path)
    assert (first["id"], second["id"]) == ("set-1", "set-2")
    assert first["page_count"] == 2
    assert first["sizes"] == [[1653, 2339]] * 2
    assert first["tables"] == [None, None]
    number, total = first["fields"]
    assert (number["bbox"], number["page"], number["text"]) == (BOX, 0, "A-1")
    assert (number["score"], number["line_item_id"]) == (0.5, None)
    assert (total["fieldtype"], total["page"]) == ("total", 1)
    assert [item["line_item_id"] for item in first["line_items"]] == [3, 3, 2, 1]
    assert first["original_filename"] == "invoice 1.PDF"
    assert (first["language"], first["document_type"]) == ("en", "Invoices")
    assert (second["page_count"], second["fields"]) == (0, [])


def test_the_library_reads_another_split(tmp_path: Path) -> None:
    data = write("docile", [make_row(TAGS)], Documents(PAGES, CONTENTS), split="val")
    assert len(read(data, tmp_path, "val")) == 1
